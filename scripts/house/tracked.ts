import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.js'

/** The paths of the repository's own files that start with `folder`: tracked ones, and new ones not yet added. */
export function filesIn(folder: string): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', folder],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path)))
}

/** A file of the repository, as text. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** What a TypeScript file imports or re-exports, as written. */
export function importsOf(path: string): string[] {
  const statements = textOf(path).matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g)
  return [...statements].map(([, specifier]) => specifier!)
}
