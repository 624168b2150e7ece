import { expect, test } from 'vitest'
import { createFollowingLog } from '../../src/daemon/standby.ts'

const HOLDER = 'one on here, pid 7, /state'

function listen() {
  const said: unknown[] = []
  const log = createFollowingLog({
    log: (_level, event, fields) =>
      void said.push([event, fields?.['reason'] ?? fields?.['holder']]),
  })
  return {
    said,
    see: (trouble?: string, holder = HOLDER) => log({ holder, behind: 0, trouble, differs: [] }),
  }
}

test('a standby says whom it follows once, and again when it is another', () => {
  const { said, see } = listen()
  see()
  see()
  see(undefined, 'two')
  expect(said).toEqual([
    ['standby.following', HOLDER],
    ['standby.following', 'two'],
  ])
})

test('what keeps it from following is said for each reason once, until it follows again', () => {
  const { said, see } = listen()
  see()
  for (const reason of [
    'connection lost',
    'connection lost',
    'the server is behind',
    'connection lost',
  ])
    see(reason)
  see()
  see('connection lost')
  expect(said).toEqual([
    ['standby.following', HOLDER],
    ['standby.unable', 'connection lost'],
    ['standby.unable', 'the server is behind'],
    ['standby.following', HOLDER],
    ['standby.unable', 'connection lost'],
  ])
})

test('words that are other ones at each look fill no log', () => {
  const { said, see } = listen()
  for (let port = 0; port < 100; port++) see(`port ${port} answers nothing`)
  expect(said).toHaveLength(10)
})

test('of a journal that nobody has written yet there is no writer to follow, and none is named', () => {
  const said: unknown[] = []
  const log = createFollowingLog({
    log: (_level, event, fields) => void said.push([event, fields]),
  })
  const nobody = { holder: '', behind: 0, differs: [] }
  log({ ...nobody, trouble: 'connection lost' })
  log(nobody)
  log(nobody)
  expect(said).toEqual([
    ['standby.unable', { reason: 'connection lost' }],
    ['standby.following', { behind: 0 }],
  ])
})

test('what it would trade otherwise than its writer is said once, and that it agrees again', () => {
  const said: unknown[] = []
  const log = createFollowingLog(
    { log: (_level, event, fields) => void said.push([event, fields]) },
    true,
  )
  const state = { holder: HOLDER, behind: 0 }
  for (const differs of [[], ['risk'], ['risk'], ['risk', 'code of grid is missing here'], []])
    log({ ...state, differs })
  expect(said.slice(1)).toEqual([
    ['standby.differs', { holder: HOLDER, differs: ['risk'], takesOver: false }],
    [
      'standby.differs',
      { holder: HOLDER, differs: ['risk', 'code of grid is missing here'], takesOver: false },
    ],
    ['standby.agrees', { holder: HOLDER }],
  ])
})
