import { Failure } from '../lib/failure.ts'

/** @param proof What shows that the exchange knows orders that this state has never sent. */
export function stateOlder(proof: string): Failure {
  return new Failure({
    code: 'STATE_OLDER_THAN_EXCHANGE',
    sentence:
      'this state is older than the exchange: it is a copy of before, and the account has traded on since',
    facts: { proof },
    hint:
      'put the newest state back; where it is lost, `intentd repair --from-exchange` takes over the positions of the ' +
      'exchange, and nothing else',
  })
}
