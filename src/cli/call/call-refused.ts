import { Failure } from '../../lib/failure.ts'

/** Nothing was sent. */
export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
