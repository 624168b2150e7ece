import { Failure } from '../../lib/failure.ts'

/** Nothing was sent. Exit code 64. */
export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
