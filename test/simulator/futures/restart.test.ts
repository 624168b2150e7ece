import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { type ExchangeCore } from '../../../src/simulator/futures/exchange-core.ts'
import { type CoreSettings } from '../../../src/simulator/futures/settings.ts'
import { IS_WHOLE, shareOf } from '../../support/share.ts'
import { SqliteStore } from '../../../src/simulator/store/sqlite-store.ts'
import { type RowStore } from '../../../src/simulator/store/stored-rows.ts'
import { createMemoryStore } from './memory-store.ts'
import { buildSession, openSession, sessionAccounts, SESSION_START_AT } from './random-session.ts'

interface MarketRow {
  readonly market: { readonly identity: string }
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** What can be seen of the core, at the moment of the session's last operation. */
function everything(
  core: ExchangeCore,
  { seed, length }: { readonly seed: number; readonly length: number },
): unknown {
  const now = buildSession(seed, length).at(-1)?.at ?? 0
  core.advance(now)
  return {
    ledgers: sessionAccounts.map(({ uid }) => core.ledger(uid)),
    books: core.books(),
    tickers: (['USDT-FUTURES', 'COIN-FUTURES'] as const).map((productType) =>
      core.answer('tickers', NOBODY, { productType }, now),
    ),
    fills: sessionAccounts.map(({ uid }) =>
      core.answer('orderFills', { uid }, { productType: 'USDT-FUTURES' }, now),
    ),
  }
}

function playUninterrupted(
  seed: number,
  length: number,
  settings: Partial<CoreSettings>,
): unknown[] {
  const core = openSession({ seed, settings })
  const answers = buildSession(seed, length).map(({ run }) => run(core))
  return [...answers, everything(core, { seed, length })]
}

/** The same operations, with the core thrown away and loaded again wherever `isKilled` says so. */
function playInterrupted(options: {
  readonly seed: number
  readonly length: number
  readonly settings: Partial<CoreSettings>
  readonly store: RowStore
  readonly isKilled: (index: number) => boolean
}): unknown[] {
  const { seed, settings, store } = options
  let core = openSession({ seed, settings, store })
  const answers = buildSession(seed, options.length).map(({ run }, index) => {
    const answer = run(core)
    if (options.isKilled(index)) core = openSession({ seed, settings, store })
    return answer
  })
  return [...answers, everything(core, options)]
}

const lagging: Partial<CoreSettings> = {
  matchingLagMs: 1500,
  fillVisibilityLagMs: 900,
  marketStateEveryMs: 120_000,
}

describe('a core that is killed and loaded from its store answers like one that never stopped', () => {
  test.each([
    [21, {}],
    [22, lagging],
    [23, { fillsMax: 40, idempotencyWindowMs: 60_000 }],
  ] as const)('killed after every operation, seed %i with %j', (seed, settings) => {
    const length = IS_WHOLE ? 120 : 40
    const expected = playUninterrupted(seed, length, settings)

    const actual = playInterrupted({
      seed,
      length,
      settings,
      store: createMemoryStore(),
      isKilled: () => true,
    })

    expect(actual).toEqual(expected)
  })

  test.each(shareOf([33, 31, 32, 34], 4))(
    'killed at random moments of a long session, seed %i',
    (seed) => {
      const random = createRandom(`kill/${seed}`)
      const expected = playUninterrupted(seed, 1500, {})

      const actual = playInterrupted({
        seed,
        length: 1500,
        settings: {},
        store: createMemoryStore(),
        isKilled: () => random.integer(60) === 0,
      })

      expect(actual).toEqual(expected)
    },
  )

  test('kept in a SQLite file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'core-store-'))
    folders.push(folder)
    const store = new SqliteStore(join(folder, 'simulator.db'))
    const expected = playUninterrupted(41, 400, {})

    const actual = playInterrupted({
      seed: 41,
      length: 400,
      settings: {},
      store,
      isKilled: (index) => index % 40 === 0,
    })

    expect(actual).toEqual(expected)
    store.close()
  })
})

describe('the statistics of a day', () => {
  const MINUTE_MS = 60_000
  const tickersOf = (core: ExchangeCore, now: number) =>
    (['USDT-FUTURES', 'COIN-FUTURES'] as const).map((productType) =>
      core.answer('tickers', NOBODY, { productType }, now),
    )

  test('come back to the last figure, over minutes, midnight and a whole day', () => {
    const store = createMemoryStore()
    const random = createRandom('minutes')
    const session = { seed: 61, stepMs: 10_000 }
    const twin = openSession(session)
    let core = openSession({ ...session, store })
    let now = SESSION_START_AT

    while (now < SESSION_START_AT + 26 * 60 * MINUTE_MS) {
      now += random.integer(60 * MINUTE_MS)
      core.advance(now)
      core = openSession({ ...session, store })

      expect(tickersOf(core, now)).toEqual(tickersOf(twin, now))
    }
    // And a stretch of more than a day, which turns every minute over.
    now += 30 * 60 * MINUTE_MS
    core.advance(now)
    core = openSession({ ...session, store })
    expect(tickersOf(core, now)).toEqual(tickersOf(twin, now))
  })

  test('are stored a minute at a time: one that is over and one that has begun', () => {
    const saved: string[] = []
    const store = createMemoryStore()
    const core = openSession({
      seed: 62,
      store: {
        load: () => store.load(),
        save(changes) {
          saved.push(...changes.map(({ table }) => table))
          store.save(changes)
        },
      },
    })
    const minutes = () => saved.splice(0).filter((table) => table === 'minutes')

    expect(minutes()).toHaveLength(4 * 1440)
    core.advance(SESSION_START_AT)
    minutes()
    for (let minute = 1; minute <= 3; minute++) {
      core.advance(SESSION_START_AT + minute * MINUTE_MS)
      expect(minutes()).toHaveLength(4 * 2)
    }
  })
})

test('a file that another simulator has open is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'core-store-'))
  folders.push(folder)
  const file = join(folder, 'simulator.db')
  const store = new SqliteStore(file)

  expect(() => new SqliteStore(file)).toThrow(
    /SIMULATOR_STORE_UNUSABLE[^]*stop the other simulator/,
  )
  store.close()
  new SqliteStore(file).close()
})

test('a full disk is named, and what was stored before it stays', ({ skip, onTestFinished }) => {
  const disk = mkdtempSync(join(tmpdir(), 'core-store-'))
  onTestFinished(() => {
    spawnSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true })
  })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  if (status !== 0) skip('only an administrator may mount a small disk')
  const store = new SqliteStore(join(disk, 'simulator.db'))
  store.save([{ table: 'things', id: 'first', json: '1' }])

  const fill = () =>
    store.save([
      { table: 'things', id: 'first', json: '2' },
      { table: 'things', id: 'large', json: JSON.stringify('x'.repeat(4_000_000)) },
    ])

  for (let times = 0; times < 2; times++) {
    expect(fill).toThrow(
      /SIMULATOR_STORE_UNWRITABLE[^]*database or disk is full[^]*free disk space/,
    )
  }
  expect(store.load()).toEqual([{ table: 'things', id: 'first', json: '1' }])
  store.close()
})

test('a paused core stays paused over a restart, and its market goes on from where it stopped', () => {
  const store = createMemoryStore()
  const before = openSession({ seed: 5, store })
  before.advance(SESSION_START_AT + 600_000)
  before.pause(SESSION_START_AT + 600_500)
  const quote = before.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, before.now)

  const after = openSession({ seed: 5, store })
  const resumedAt = SESSION_START_AT + 86_400_000
  after.resume(resumedAt)

  expect(after.isPaused).toBe(false)
  const lastPrices = (reply: typeof quote) =>
    reply.ok ? reply.data.map(({ lastPr, ts }) => [lastPr, ts]) : []
  expect(
    lastPrices(after.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, resumedAt)),
  ).toEqual(lastPrices(quote))
  after.advance(resumedAt + 10_000)
  expect(
    lastPrices(
      after.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, resumedAt + 10_000),
    ),
  ).not.toEqual(lastPrices(quote))
})

describe('a store that does not fit is refused with what to do', () => {
  test('another market', () => {
    const store = createMemoryStore()
    openSession({ seed: 5, store })

    expect(() => openSession({ seed: 6, store })).toThrow(/SIMULATOR_MARKET_CHANGED/)
  })

  test('rows of another version', () => {
    const store = createMemoryStore()
    openSession({ seed: 5, store })
    store.save([{ table: 'meta', id: 'version', json: '99' }])

    expect(() => openSession({ seed: 5, store })).toThrow(/SIMULATOR_STORE_VERSION[^]*start afresh/)
  })

  test('rows of 0.1.0, unless their market is a seeded one', () => {
    const store = createMemoryStore()
    openSession({ seed: 5, store })
    const ofBefore = { table: 'meta', id: 'version', json: '5' }
    store.save([ofBefore])

    openSession({ seed: 5, store })
    const written = store.load()?.find(({ table, id }) => table === 'meta' && id === 'version')
    const market = JSON.parse(
      store.load()?.find(({ id }) => id === 'market')?.json ?? '',
    ) as MarketRow
    const recorded = {
      ...market,
      market: { ...market.market, identity: 'recorded:0123456789ab:x1' },
    }
    store.save([ofBefore, { table: 'meta', id: 'market', json: JSON.stringify(recorded) }])

    expect(written?.json).toBe('6')
    expect(() => openSession({ seed: 5, store })).toThrow(/SIMULATOR_STORE_VERSION[^]*start afresh/)
  })

  test('a row that is no JSON', () => {
    const store = createMemoryStore()
    openSession({ seed: 5, store })
    store.save([{ table: 'accounts', id: '1', json: '{' }])

    expect(() => openSession({ seed: 5, store })).toThrow(/SIMULATOR_STORE_DAMAGED/)
  })

  test('an account that is no longer configured', () => {
    const store = createMemoryStore()
    openSession({ seed: 5, store })
    const row = store.load()?.find(({ table }) => table === 'accounts')
    store.save([
      { table: 'accounts', id: '99', json: row?.json?.replace('"uid":"1"', '"uid":"99"') },
    ])

    expect(() => openSession({ seed: 5, store })).toThrow(/SIMULATOR_ACCOUNT_MISSING/)
  })
})
