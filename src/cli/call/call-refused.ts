import { Failure } from '../../lib/failure.ts'

export class CallRefused extends Failure {
  override readonly name = 'CallRefused'
}
