import { generateSync } from 'otplib'
import { OneTimeCodes } from '../../../src/control/approval/one-time-codes.ts'
import type { Pairing, PairingStore } from '../../../src/control/approval/pairing-file.ts'
import { type ProposalNews, Proposals } from '../../../src/control/approval/proposals.ts'
import type { Controlled } from '../../../src/control/controlled.ts'
import { Secret } from '../../../src/lib/secret.ts'

export const TOTP_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const START_AT = 1_800_000_000_000

export class MemoryPairing implements PairingStore {
  pairing: Pairing | undefined = {
    secret: new Secret(TOTP_SECRET),
    pairedAt: 0,
    usedCounter: 0,
    wrongAt: [],
    locks: 0,
    lockedUntil: 0,
  }

  load(): Pairing | undefined {
    return this.pairing
  }

  save(pairing: Pairing): void {
    this.pairing = pairing
  }

  alone<Result>(work: () => Result): Result {
    return work()
  }
}

/** Proposals over a daemon that is made up, at a time that the test moves. */
export class ProposalBench {
  now = START_AT
  readonly store = new MemoryPairing()
  readonly news: ProposalNews[] = []
  readonly proposals: Proposals

  constructor(
    planCommand: Controlled['planCommand'] = () => ({ changes: ['ends it'], notes: [] }),
  ) {
    this.proposals = new Proposals({
      daemon: { planCommand: (order) => planCommand(order) },
      clock: { now: () => this.now, monotonic: () => this.now },
      codes: new OneTimeCodes({ store: this.store, now: () => this.now }),
      onNews: (news) => this.news.push(news),
    })
  }

  code(): string {
    return codeAt(this.now)
  }
}

export function codeAt(now: number, secret = TOTP_SECRET): string {
  return generateSync({ secret, epoch: Math.floor(now / 1000) })
}
