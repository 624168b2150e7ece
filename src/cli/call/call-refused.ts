import { Failure } from '../../lib/failure.ts'

/** Nothing was sent: the call was not understood, or breaks a rule. Exit code 64. */
export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
