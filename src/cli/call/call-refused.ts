import { Failure } from '../../lib/failure.ts'

/** Says that nothing was sent. */
export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
