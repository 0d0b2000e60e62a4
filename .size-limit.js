// @ts-check
/** @type {import('size-limit').SizeLimitConfig} */
export default [
  {
    name: 'keyspec',
    path: 'packages/keyspec/lib/index.js',
    limit: '21 kB',
    // The type says generically that the same object comes back.
    modifyEsbuildConfig: (config) => Object.assign(/** @type {any} */ (config), { platform: 'node' }),
  },
]
