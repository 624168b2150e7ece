import { HttpError, type Transformer } from 'grammy'
import { isRecord } from '../../lib/plain-data.ts'

/**
 * grammY does not check answers, and one that is no list of updates would end the bot. So an odd
 * answer becomes an error of the connection, after which grammY asks again.
 */
export const refuseOddAnswers: Transformer = async (previous, method, payload, signal) => {
  const answer = await previous(method, payload, signal)
  if (!isRecord(answer)) throw oddAnswer(method)
  if (!answer.ok) return answer
  const result: unknown = answer.result
  if (method === 'getMe' && !(isRecord(result) && typeof result['username'] === 'string'))
    throw oddAnswer(method)
  if (method !== 'getUpdates') return answer
  if (!Array.isArray(result)) throw oddAnswer(method)
  // Without a readable id, grammY would get the same list again at once.
  const updates = result.filter(isUpdate)
  if (updates.length === 0 && result.length > 0) throw oddAnswer(method)
  return updates.length === result.length ? answer : { ...answer, result: updates as never }
}

function isUpdate(value: unknown): boolean {
  return isRecord(value) && Number.isSafeInteger(value['update_id'])
}

function oddAnswer(method: string): HttpError {
  const reason = `the answer to ${method} is not as the Bot API says`
  return new HttpError(reason, new Error(reason))
}
