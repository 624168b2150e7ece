// Sizes are base coin, prices quote coin, money the margin coin, as exact decimal text; instants
// are Unix ms of our clock.

import { z } from 'zod'
import { FILL_KINDS } from '../domain/fill.ts'
import { DISTANCE_TRUSTS } from '../domain/liquidation.ts'
import { DISPUTED_FIGURES } from '../domain/loss-limits.ts'
import { TRADING_MODES } from '../domain/trading-mode.ts'

export const instant = z.int().meta({ description: 'Unix ms' })
export const amount = z.string().meta({ description: 'an exact decimal' })
const ageMs = z.number().nullable().meta({ description: 'ms; null: never' })

export const restrictionSchema = z.strictObject({
  scope: z
    .string()
    .meta({ description: '*: the account; SYMBOL: an instrument; strategy:ID: a strategy' }),
  mode: z.enum(TRADING_MODES),
  code: z.string(),
  reason: z.string(),
  by: z.string(),
  at: instant,
  ends: z.string().meta({ description: 'what ends it, in words' }),
  command: z
    .string()
    .nullable()
    .meta({ description: 'the command that ends it; null: it ends by itself' }),
  isClosing: z.boolean().meta({ description: 'a flatten, and not everything is closed yet' }),
  releasableAt: instant.nullable().meta({
    description: 'a release before is refused (risk.losses.coolDownMs); null: at any time',
  }),
})

const capitalSchema = z.strictObject({
  set: z.string().meta({ description: 'as its file says: `40 %`, or an amount' }),
  max: z.number().nullable().meta({
    description: 'what that is now, in the margin coin; null: the equity is not known',
  }),
  used: z.number().nullable().meta({
    description:
      'the margin of what it holds and could come to hold by its open orders; null: a price is missing',
  }),
})

export type CapitalView = z.infer<typeof capitalSchema>

export const journalPlaceSchema = z
  .strictObject({
    run: z.int().meta({ description: 'starts of the daemon are counted, over all of them' }),
    sequence: z.int().meta({ description: 'of the newest record; 0: there is none' }),
  })
  .meta({ description: 'up to where the journal was read for these figures' })

export const positionSchema = z.strictObject({
  journal: journalPlaceSchema,
  symbol: z.string(),
  side: z.enum(['long', 'short', 'flat']).meta({
    description:
      'flat: the account holds nothing, because in one-way mode strategies hold against each other',
  }),
  size: amount,
  entryPrice: z.number().nullable(),
  entryFrom: z.enum(['fills', 'exchange']).nullable().meta({
    description:
      'exchange: some lots are explained by no fill, and their price is what it states; null: it has stated it once, and nothing is counted by it yet',
  }),
  markPrice: z.number().nullable(),
  coin: z.string().meta({ description: 'the margin coin, of the profit' }),
  unrealisedProfit: amount.nullable().meta({
    description:
      'by the exchange; null: it does not say it, or its last reading is of another size',
  }),
  liquidationPrice: z
    .number()
    .nullable()
    .meta({ description: 'as the exchange states it; null: it does not, or there is none' }),
  keptByExchange: z
    .strictObject({
      stopLoss: amount.nullable(),
      takeProfit: amount.nullable(),
      setBy: z.string(),
      moves: z.boolean().meta({
        description:
          'whether the stop-loss is moved with the exits of that strategy (exchange.beyondDocumentPrivate); false: it stays where it was set',
      }),
      isMissing: z.boolean().meta({
        description: 'the exchange was asked, and lists no stop-loss although one was set',
      }),
    })
    .nullable()
    .meta({
      description:
        'exits that the exchange keeps for it, as the last order that opened has set them or as they are listed, and its strategy; null: none was set',
    }),
  stops: z
    .array(z.strictObject({ strategy: z.string(), kind: z.string(), price: amount }))
    .optional()
    .meta({
      description:
        'where the exits of its strategies close what they hold, as the daemon judges it; absent: nowhere, or not known',
    }),
  liquidation: z
    .strictObject({
      ourPrice: z
        .number()
        .nullable()
        .meta({ description: 'by our own count; null: not known, or there is none' }),
      distance: z.number().nullable().meta({
        description: 'share of the mark price, by the nearer figure; null: no price liquidates it',
      }),
      moves: z.number().nullable().meta({
        description:
          'the same in typical moves of an hour (the median of those of the last 24 hours); null: fewer than three hours are known',
      }),
      trust: z.enum(DISTANCE_TRUSTS).meta({
        description:
          'whether our figure and the exchange’s agree, or which one there is; alone: they have differed for so long that ours counts alone',
      }),
      ratio: z.number().nullable().meta({
        description:
          'maintenance margin ratio: maintenance margin and the fee of closing over what stands behind the position, by our own count; at 1 it is liquidated; null: not known',
      }),
      statedRatio: z
        .number()
        .nullable()
        .meta({ description: 'the same as the exchange states it; null: it does not' }),
      ratioTrust: z.enum(DISTANCE_TRUSTS).meta({ description: 'as trust, of the ratio' }),
    })
    .nullable()
    .meta({ description: 'how far a liquidation is; null: not measured yet' }),
  readAgeMs: ageMs,
  strategies: z.record(z.string(), amount).meta({ description: 'what each strategy holds of it' }),
  capitals: z.record(z.string(), capitalSchema).optional().meta({
    description: 'of those of them that have a `capital`: what they may use; absent: none has',
  }),
})

const unattendedSchema = z.strictObject({
  strategy: z.string().nullable().meta({ description: 'null: no strategy holds it' }),
  symbol: z.string(),
  side: z.enum(['long', 'short']),
  size: amount,
  why: z.string().meta({ description: 'why nobody trades it, and what to do' }),
})

export const orderSchema = z.strictObject({
  clientOid: z.string(),
  orderId: z.string().nullable(),
  strategy: z.string(),
  symbol: z.string(),
  action: z.enum(['openLong', 'closeLong', 'openShort', 'closeShort']),
  state: z.string(),
  price: amount.nullable().meta({ description: 'null: a market order' }),
  size: amount,
  filled: amount,
  force: z.string(),
  purpose: z.string().meta({
    description: 'place, quote, target or flatten; of an order that an exit asks for, which one',
  }),
  key: z.string(),
  tag: z.string().meta({ description: 'what the strategy wrote on it; empty: nothing' }),
  reason: z.string(),
})

export const fillSchema = z.strictObject({
  tradeId: z.string().meta({ description: 'shared by the two fills of a self-trade' }),
  orderId: z.string(),
  at: instant.meta({ description: 'Unix ms, exchange clock' }),
  symbol: z.string(),
  strategy: z.string().meta({ description: 'empty: of no order of ours' }),
  side: z.string(),
  price: amount,
  size: amount,
  profit: amount.nullable().meta({ description: 'realised by closing; null: not known' }),
  fee: amount.nullable().meta({ description: 'in coin; null: not known' }),
  otherFees: z.string().meta({
    description: 'fees in other coins, as `BGB 0.011 at 4.2`; without a price it is not counted',
  }),
  coin: z.string(),
  kind: z.enum(FILL_KINDS).nullable().meta({ description: 'null: not known' }),
  isMaker: z.boolean().nullable(),
  clientOid: z.string(),
  reason: z.string().meta({
    description:
      'why its order closed something: flatten, or the exit of the strategy; empty: a plain order',
  }),
  tag: z.string().meta({ description: 'what the strategy wrote on its order; empty: nothing' }),
})

export const profitSchema = z.strictObject({
  fills: z.int(),
  net: amount.meta({
    description:
      'realised + funding - fees, as far as they are known; what is held now is not in it',
  }),
  netWithUnrealised: amount.nullable().meta({
    description:
      'net + unrealised; null: not known, and of a span of time, which has no unrealised profit',
  }),
  realised: amount,
  fees: amount.meta({ description: 'paid; negative when received' }),
  funding: amount
    .nullable()
    .meta({ description: 'positive when received; null: not known for this row' }),
  unrealised: amount.nullable().meta({ description: 'null: not known' }),
  uncounted: z
    .strictObject({
      coins: z.record(z.string(), amount).meta({ description: 'fees in coins without a price' }),
      feesMissing: z.int().meta({ description: 'fills without a fee' }),
      profitsMissing: z.int().meta({ description: 'fills without a profit' }),
      profitsOurs: z
        .int()
        .meta({ description: 'fills whose profit is our own count; it is counted' }),
    })
    .nullable()
    .meta({ description: 'what is not in these sums, because it is not known; null: nothing' }),
})

export const limiterSchema = z.strictObject({
  endpoint: z.string(),
  limit: z.string(),
  made: z.int(),
  usedShare: z.number(),
  waiting: z.int().meta({ description: 'calls in the queue now' }),
  waitedMsP99: z.number(),
  rateLimited: z.int(),
})

const lossSchema = z.strictObject({
  scope: z.string(),
  limit: z
    .string()
    .meta({ description: 'daily, drawdown.warn, drawdown.reducing, drawdown.flatten or streak' }),
  used: z.number().nullable().meta({ description: 'in the unit of max; null: not known' }),
  max: z.number().meta({
    description:
      "margin coin; of the account's drawdown a share of the peak of its equity; of a streak trades",
  }),
  peak: z.number().nullable().meta({
    description:
      'of a drawdown: the equity of the account, else the net profit, from which it counts',
  }),
  level: z
    .number()
    .nullable()
    .meta({ description: 'of a drawdown: at which of these it is reached' }),
})

const disputeSchema = z.strictObject({
  figure: z.enum(DISPUTED_FIGURES).meta({
    description:
      'unrealised: the profit of a position, fills: the book against a second count of its fills, liquidation: where a position would be liquidated',
  }),
  scope: z.string(),
  ours: z.string(),
  theirs: z.string(),
  since: instant,
  isReducing: z
    .boolean()
    .meta({ description: 'the worse figure has reached a limit of some scope' }),
})

const agesSchema = z.strictObject({
  tickersMs: z.record(z.string(), ageMs).meta({ description: 'by instrument' }),
  positionsMs: z.record(z.string(), ageMs).meta({ description: 'by instrument' }),
  fillsMs: ageMs,
})

export const accountSchema = z.strictObject({
  name: z.string(),
  journal: journalPlaceSchema,
  coin: z.string().meta({ description: 'the margin coin, of all money' }),
  phase: z.enum(['new', 'starting', 'running', 'stopping', 'stopped']).meta({
    description: 'stopped: the run is over, also where it broke down, and nothing leaves',
  }),
  mode: z.enum(TRADING_MODES),
  isTrading: z.boolean().meta({
    description:
      'whether strategies are asked: it runs, no stop or kill goes on, and some price is fresh enough',
  }),
  hindrances: z.array(z.string()).meta({
    description: 'why nothing is traded, or not everything, beside restrictions; in words',
  }),
  warnings: z.array(z.string()).meta({
    description: 'what a person should know although nothing is held back for it; in words',
  }),
  waits: z
    .array(z.strictObject({ strategy: z.string(), symbol: z.string(), what: z.string() }))
    .meta({
      description:
        'strategies that want nothing of an instrument yet, and what for, in words: candles, or what they say themselves (`market.waitsFor`); nothing is in their way',
    }),
  pauses: z.array(z.string()).meta({
    description: 'entries that exits hold back as they are meant to, and until when; in words',
  }),
  restrictions: z.array(restrictionSchema),
  kill: z
    .strictObject({
      phase: z
        .enum(['cutting', 'draining', 'clearing', 'waiting', 'confirming', 'proving', 'clean'])
        .meta({
          description: 'how far it is proved that nothing rests; clean: it is',
        }),
      isReleaseAsked: z.boolean().meta({ description: 'it is released as soon as that is proved' }),
    })
    .nullable()
    .meta({ description: 'null: the run obeys none, or is over' }),
  ages: agesSchema,
  limits: z.strictObject({ dataAgeMaxMs: z.number(), accountAgeMaxMs: z.number() }).meta({
    description: 'ms; how old prices, and positions and fills, may be where orders are to leave',
  }),
  clock: z.strictObject({
    isSynchronised: z.boolean(),
    offsetMs: z.number().meta({ description: "The exchange's clock less ours, by signed answers" }),
    publicMs: z.number().nullable().meta({
      description:
        'The same by public answers while they contradict the signed ones; null while they agree',
    }),
    machineMs: z.number().meta({ description: "The exchange's clock less this machine's" }),
  }),
  positions: z.array(positionSchema),
  unattended: z
    .array(unattendedSchema)
    .meta({ description: 'what is held and no strategy trades' }),
  openOrders: z.record(z.string(), z.int()).meta({ description: 'by state' }),
  unknownSince: instant.nullable(),
  profit: z.strictObject({
    today: profitSchema.meta({
      description: 'since the day rolled, by fills and funding payments',
    }),
    week: profitSchema.meta({ description: 'of today and the six days before, as today' }),
    total: profitSchema,
    strategies: z.record(z.string(), profitSchema),
    instruments: z.record(z.string(), profitSchema),
  }),
  equity: amount
    .nullable()
    .meta({ description: 'capital and everything that was made; null: not known' }),
  peak: amount.nullable().meta({
    description:
      'the highest equity: since a release took a new peak where the drawdown is limited, else since the start',
  }),
  drawdown: amount.nullable().meta({ description: 'equity below its peak' }),
  equityBefore: z
    .strictObject({ day: amount.nullable(), week: amount.nullable() })
    .meta({ description: 'a day and a week ago, in this run or an earlier one; null: not known' }),
  losses: z.array(lossSchema),
  worstCase: z
    .strictObject({
      scenario: z.string().meta({ description: 'the move that takes most, in words' }),
      need: amount.meta({
        description: 'loss, fees, funding and margin after it, with all that rests filled',
      }),
      left: amount.meta({ description: 'equity less that; below zero: it would not be survived' }),
      used: z.number().meta({ description: 'need as a share of the equity, by the worse figure' }),
    })
    .nullable()
    .meta({
      description:
        'what `risk.survives` counts; null: not set, nothing is at risk, or not known yet',
    }),
  isLossLimited: z
    .boolean()
    .meta({ description: 'whether `risk.losses` restricts what the account may lose' }),
  disputes: z.array(disputeSchema).meta({ description: 'figures whose two witnesses differ' }),
  limiter: z.array(limiterSchema),
  strategies: z.array(
    z.strictObject({
      id: z.string(),
      mode: z.enum(TRADING_MODES).meta({
        description:
          'what holds on all of its instruments; `restrictions` say where more holds on one of them',
      }),
      symbols: z.array(z.string()),
      openOrders: z.int(),
      capital: capitalSchema
        .optional()
        .meta({ description: 'what it may use of the account; absent: no `capital` is set' }),
      wants: z
        .array(
          z.strictObject({
            symbol: z.string(),
            what: z
              .string()
              .meta({ description: 'a position, a ladder, orders by name; or nothing' }),
            since: instant.nullable().meta({ description: 'null: since before this start' }),
          }),
        )
        .meta({ description: 'what it wants now, whether that is there or not' }),
    }),
  ),
})

const standbySchema = z
  .strictObject({
    holder: z.string().meta({ description: 'who writes the journal, or wrote it last' }),
    behind: z.int().nullable().meta({
      description:
        'transactions that the writer had made since the look before; null: it has not looked yet',
    }),
    seenAt: instant.nullable().meta({ description: 'when it looked last' }),
    freeInMs: z.number().nullable().meta({
      description:
        'until it takes over, unless the lease is renewed; null: it cannot while it cannot look',
    }),
    trouble: z.string().nullable().meta({ description: 'why it cannot look' }),
    differs: z.array(z.string()).meta({
      description: 'settings and strategy code with which it would trade otherwise than the writer',
    }),
  })
  .meta({ description: 'of one that follows a journal and trades nothing yet' })

const sharedLimitsSchema = z
  .strictObject({
    state: z.enum(['joining', 'shared', 'alone', 'refused']).meta({
      description:
        'joining: at a start, before the first answer, and alone: without Redis, at most an even share; ' +
        'refused: no call leaves',
    }),
    since: instant,
    reason: z.string().nullable().meta({ description: 'why they are not shared' }),
    members: z
      .int()
      .meta({ description: 'daemons that share now, this one too; 0: it shares nothing' }),
    membersMax: z.int(),
    limits: z.array(
      z.strictObject({
        name: z.string(),
        calls: z.int().meta({ description: 'in a window, of all daemons together' }),
        perMs: z.number(),
        mayMake: z.int().meta({ description: 'those of them that this one may make' }),
        gone: z.int().meta({
          description:
            'those of them that daemons may have made that ended or are cut off: nobody has them until they count no more',
        }),
      }),
    ),
  })
  .meta({ description: 'limits of the address, where other daemons share them through Redis' })

const answeredSchema = z.record(z.string(), z.int()).meta({
  description:
    'requests of this run, by what became of them: taken, repeated, refused, limited, notNow',
})

export const statusSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  environment: z.string(),
  speed: z.number().meta({
    description: 'market time over real time; at another one than 1 the run is a demonstration',
  }),
  isReadOnly: z.boolean().meta({ description: 'whether commands are refused' }),
  exchange: z.string(),
  configOption: z.string().meta({
    description:
      "what a command needs to address this daemon's configuration, ` -c live.yaml`; or nothing",
  }),
  pid: z.int(),
  processStartedAt: instant.meta({ description: 'a reload is no new process' }),
  startedAt: instant.meta({ description: 'when it began to run with its present configuration' }),
  now: instant,
  accounts: z.array(accountSchema),
  off: z.array(z.strictObject({ name: z.string(), file: z.string(), reason: z.string() })).meta({
    description: 'further accounts of this daemon that could not be opened; files by absolute path',
  }),
  alerts: z
    .array(
      z.strictObject({
        target: z.string(),
        failing: z.strictObject({ since: instant, reason: z.string() }).nullable().meta({
          description: 'since when no alert arrives there, and what it says; null: they arrive',
        }),
      }),
    )
    .optional()
    .meta({ description: 'the targets of alerts; absent: the configuration has none' }),
  signals: z
    .strictObject({
      accepted: z.array(
        z.strictObject({
          name: z.string(),
          at: instant
            .nullable()
            .meta({ description: 'when the last one was taken; null: none is known' }),
          isShown: z.boolean().meta({ description: 'whether it has not expired yet' }),
          answered: answeredSchema,
        }),
      ),
      unproved: answeredSchema.meta({ description: 'requests that have shown no secret' }),
    })
    .optional()
    .meta({ description: 'the signals that it takes; absent: none' }),
  closedPort: z
    .strictObject({
      address: z.string(),
      reason: z.string(),
      since: instant,
    })
    .optional()
    .meta({
      description:
        '`control.port`, while the daemon cannot listen there; absent: it listens, or has no port',
    }),
  hasFleet: z
    .literal(true)
    .optional()
    .meta({ description: 'the journal is on a server, and `/v1/fleet` says who else uses it' }),
  standby: standbySchema.optional(),
  sharedLimits: sharedLimitsSchema.optional(),
})

export const eventSchema = z.strictObject({
  id: z.int(),
  at: instant,
  level: z.string(),
  event: z.string().meta({ description: 'docs/log-events.md lists them' }),
  fields: z.record(z.string(), z.unknown()),
})

export type RestrictionView = z.infer<typeof restrictionSchema>
export type PositionView = z.infer<typeof positionSchema>
export type OrderView = z.infer<typeof orderSchema>
export type FillView = z.infer<typeof fillSchema>
export type ProfitView = z.infer<typeof profitSchema>
export type AccountStatusView = z.infer<typeof accountSchema>
export type StatusView = z.infer<typeof statusSchema>
export type EventView = z.infer<typeof eventSchema>
