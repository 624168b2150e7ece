import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdAccount } from '../../src/assembly/account/account-lock.ts'
import { describeHolder, holdDirectory } from '../../src/assembly/state/state-directory.ts'
import { Secret } from '../../src/lib/secret.ts'

const HOLDER = describeHolder('paper', 0)

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'locks-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

test('a damaged lock of a state directory is named as such, and is no directory that cannot be written', () => {
  const directory = folder()
  writeFileSync(join(directory, 'daemon.lock'), 'no database '.repeat(100))

  expect(() => holdDirectory(directory, HOLDER)).toThrow(
    /^LOCK_DAMAGED: [^]*daemon\.lock[^]*delete the file/,
  )
})

test('an account whose lock file is damaged trades without it, and the reason says what to do', () => {
  const place = folder()
  const reasons: string[] = []
  const access = {
    baseUrl: 'https://exchange.example',
    credentials: { apiKey: new Secret('the-api-key-of-a-test') },
  } as unknown as Parameters<typeof holdAccount>[0]['access']
  const hold = () =>
    holdAccount({
      access,
      holder: HOLDER,
      places: [place],
      onUnlocked: (reason) => reasons.push(reason),
    })
  hold().release()
  for (const name of readdirSync(place)) writeFileSync(join(place, name), 'no lock '.repeat(100))
  hold().release()

  expect(reasons).toEqual([expect.stringMatching(/^LOCK_DAMAGED: [^]*delete the file/)])
})
