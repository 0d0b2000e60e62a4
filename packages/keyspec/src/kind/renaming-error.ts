import { MigrationError, PhaseError, TwoNamesError } from '../errors.ts'

/** The error for a key under two names. */
export function twoNames(key: string | undefined): TwoNamesError {
  return new TwoNamesError(
    `${key}: exists under its new name and under an old one, and nothing says which value counts; nothing was changed. ` +
      'A program that knows only the old name is still running: stop it, then run the migration of the entry with the new value kept',
    key,
  )
}

/** The error for a command over several keys whose names are in different slots. */
export function apart(key: string, command: string): MigrationError {
  return new MigrationError(
    `${key}: ${command} over several keys is not possible while their old and new names are in different slots; ` +
      'give both patterns the same {hash tag}, or finish the rename first',
    key,
  )
}

/** The error for a phase that may not run beside one in use. */
export function wrongPhase(pattern: string, phase: number, other: number): PhaseError {
  return new PhaseError(
    `"${pattern}" is at phase ${phase} of its rename, and programs at phase ${other} used it within the last minute: ` +
      'only neighbouring phases may run together. Deploy phase 2 everywhere first',
  )
}
