import { KeyspecError } from 'keyspec'

/** An option has a value that it cannot have, such as a load of 2; nothing was read or changed. */
export class OptionError extends KeyspecError {
  readonly code = 'E_ARGUMENT'
}
