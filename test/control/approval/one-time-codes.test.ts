import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OneTimeCodes } from '../../../src/control/approval/one-time-codes.ts'
import { createPairingFile, type Pairing } from '../../../src/control/approval/pairing-file.ts'
import { codeAt, MemoryPairing, TOTP_SECRET } from '../../support/approval/memory-pairing.ts'

const MINUTE = 60_000
/** A multiple of 30 s. */
const START_AT = 1_800_000_000_000

class Authenticator {
  now = START_AT
  readonly store = new MemoryPairing()
  readonly codes = new OneTimeCodes({ store: this.store, now: () => this.now })

  use(code = codeAt(this.now)) {
    return this.codes.use(code)
  }

  /** A code that no step near it has. */
  wrong(): string {
    const near = [-1, 0, 1].map((step) => codeAt(this.now + step * 30_000))
    return ['111111', '222222', '333333', '444444'].find((code) => !near.includes(code)) ?? ''
  }
}

test('a code of the RFC is right at its time', () => {
  const { codes, store } = new Authenticator()
  const at = new OneTimeCodes({ store, now: () => 1_111_111_111_000 })

  // RFC 6238, appendix B: 14050471, of which an authenticator shows the last six digits.
  expect(at.use('050471')).toEqual({ kind: 'right', counter: 37_037_037 })
  expect(codes.use('050471').kind).toBe('wrong')
})

test('a code counts once, and no earlier one counts afterwards', () => {
  const bench = new Authenticator()
  const earlier = codeAt(bench.now - 30_000)
  const code = codeAt(bench.now)

  expect(bench.use(code)).toEqual({ kind: 'right', counter: START_AT / 30_000 })
  expect(bench.use(code)).toEqual({ kind: 'used' })
  expect(bench.use(earlier)).toEqual({ kind: 'used' })
  // Another process reads the same file.
  const other = new OneTimeCodes({ store: bench.store, now: () => bench.now })
  expect(other.use(code)).toEqual({ kind: 'used' })
  bench.now += 30_000
  expect(bench.use().kind).toBe('right')
})

test('a code is good for a step before and after its own, and no longer', () => {
  for (const [offset, kind] of [
    [-2, 'wrong'],
    [-1, 'right'],
    [1, 'right'],
    [2, 'wrong'],
  ] as const) {
    const bench = new Authenticator()
    expect(bench.use(codeAt(bench.now + offset * 30_000)).kind, `${offset}`).toBe(kind)
  }
})

test('what is no code is a wrong one', () => {
  for (const text of ['', '12345', '1234567', 'abcdef', ' 123456', '１２３４５６', '-12345'])
    expect(new Authenticator().use(text).kind, text).toBe('wrong')
})

test('five wrong codes within ten minutes lock all codes, also the right one', () => {
  const bench = new Authenticator()
  const left = Array.from({ length: 4 }, () => bench.use(bench.wrong()))
  expect(left.map((one) => 'left' in one && one.left)).toEqual([4, 3, 2, 1])
  const until = bench.now + 15 * MINUTE

  expect(bench.use(bench.wrong())).toEqual({ kind: 'locked', until, isNew: true })
  expect(bench.use()).toEqual({ kind: 'locked', until, isNew: false })
  bench.now = until - 1
  expect(bench.use().kind).toBe('locked')
  bench.now = until
  expect(bench.use().kind).toBe('right')
})

test('each further lock takes twice as long, up to a day, until a right code comes', () => {
  const bench = new Authenticator()
  const lock = (): number => {
    for (let count = 0; ; count++) {
      const verdict = bench.use(bench.wrong())
      expect(count).toBeLessThan(5)
      if (verdict.kind !== 'locked') continue
      const minutes = (verdict.until - bench.now) / MINUTE
      bench.now = verdict.until
      return minutes
    }
  }
  const minutes = Array.from({ length: 12 }, lock)
  expect(minutes.slice(0, 4)).toEqual([15, 30, 60, 120])
  expect(minutes.at(-1)).toBe(24 * 60)

  expect(bench.use().kind).toBe('right')
  expect(lock()).toBe(15)
})

test('wrong codes that lie ten minutes apart lock nothing', () => {
  const bench = new Authenticator()
  for (let count = 0; count < 20; count++) {
    expect(bench.use(bench.wrong()).kind).toBe('wrong')
    bench.now += 2.5 * MINUTE + 1
  }
})

test('a code does not count before it is written down that it was used', () => {
  const bench = new Authenticator()
  bench.store.save = () => {
    throw new Error('ENOSPC')
  }
  expect(() => bench.use()).toThrow('ENOSPC')
  expect(() => bench.use(bench.wrong())).toThrow('ENOSPC')
})

test('[SEC3] a code that two daemons with one pairing are sent at once counts once, and neither waits', () => {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-pairing-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'pairing.json')
  const [store, otherStore] = [createPairingFile(file), createPairingFile(file)]
  store.save(new MemoryPairing().pairing as Pairing)
  const other = new OneTimeCodes({ store: otherStore, now: () => START_AT })
  const refused: string[] = []
  const slow = {
    ...store,
    save: (pairing: Pairing) => {
      // The other daemon gets the same code before this one has written that it was used.
      for (const code of [codeAt(START_AT), '000000']) refused.push(caught(() => other.use(code)))
      store.save(pairing)
    },
  }

  const first = new OneTimeCodes({ store: slow, now: () => START_AT }).use(codeAt(START_AT))

  expect(first.kind).toBe('right')
  expect(refused).toEqual([
    expect.stringContaining('PAIRING_BUSY'),
    expect.stringContaining('PAIRING_BUSY'),
  ])
  expect(other.use(codeAt(START_AT))).toEqual({ kind: 'used' })
})

test('without a pairing nothing counts', () => {
  const bench = new Authenticator()
  bench.store.pairing = undefined

  expect(bench.codes.isPaired).toBe(false)
  expect(bench.use()).toEqual({ kind: 'unpaired' })
})

test('the file of a pairing is for its owner alone, and its errors hold no secret', () => {
  const directory = mkdtempSync(join(tmpdir(), 'intentd-pairing-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'pairing.json')
  const store = createPairingFile(file)
  expect(store.load()).toBeUndefined()

  const pairing = new MemoryPairing().pairing as Pairing
  store.save(pairing)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(store.load()).toEqual(pairing)
  expect(JSON.stringify(store.load())).not.toContain(TOTP_SECRET)

  writeFileSync(file, readFileSync(file, 'utf8').replace('"locks":0', '"locks":-1'))
  const broken = caught(() => store.load())
  expect(broken).toContain('PAIRING_UNREADABLE')
  expect(broken).not.toContain(TOTP_SECRET)
  writeFileSync(file, TOTP_SECRET)
  expect(caught(() => store.load())).not.toContain(TOTP_SECRET)
  chmodSync(file, 0o644)
  expect(caught(() => store.load())).toContain('PAIRING_EXPOSED')
})

function caught(run: () => unknown): string {
  try {
    run()
    return 'nothing was thrown'
  } catch (error) {
    return String(error instanceof Error ? `${error.message} ${error.stack}` : error)
  }
}
