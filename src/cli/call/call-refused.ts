import { Failure } from '../../lib/failure.ts'

/** A call that was refused before anything was sent: not understood, or against a rule. Ends with code 64. */
export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
