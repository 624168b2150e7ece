import { Failure } from '../lib/failure.ts'

/** @param proof of orders at the exchange that this state never sent */
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
