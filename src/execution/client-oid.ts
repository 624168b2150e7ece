import { type ClientOid, toClientOid } from '../domain/ids.ts'
import { base32, sha256 } from '../lib/digest.ts'

/** Characters of the digest that are kept: 26 of base32 are 130 bits. */
const DIGEST_CHARACTERS = 26

/**
 * The clientOid of an order: `t` + base32(sha256(salt, strategy, key))[0..25] + `-` + base36(generation).
 *
 * It is derived, so that the same decision gives the same id even after the journal is lost, and the exchange recognises
 * the duplicate. The salt is drawn once for each state directory, so two daemons never use the same id.
 * Why: docs/orders.md.
 */
export function deriveClientOid(options: {
  readonly salt: string
  readonly strategyId: string
  readonly key: string
  readonly generation: number
}): ClientOid {
  const { salt, strategyId, key, generation } = options
  const digest = base32(sha256([salt, strategyId, key])).slice(0, DIGEST_CHARACTERS)
  return toClientOid(`t${digest}-${generation.toString(36)}`)
}
