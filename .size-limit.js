// @ts-check
/** @type {import('size-limit').SizeLimitConfig} */
export default [
  {
    name: 'keyspec',
    path: 'packages/keyspec/lib/index.js',
    // Of it 3 kB find a key under the names of a rename: any entry may have one.
    limit: '32 kB',
    // The type says generically that the same object comes back.
    modifyEsbuildConfig: (config) => Object.assign(/** @type {any} */ (config), { platform: 'node' }),
  },
]
