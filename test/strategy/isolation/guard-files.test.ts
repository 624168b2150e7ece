import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'intentd-guard-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

const OURS = pathToFileURL(
  join(import.meta.dirname, '../../../src/strategy/isolation/guard-thread.ts'),
).href

/** A thread as those in which prices are played; it says which of these attempts came to something. */
async function attemptInThread(): Promise<Record<string, string>> {
  const at = (name: string): string => JSON.stringify(join(folder, name))
  const file = join(folder, 'thread.mts')
  writeFileSync(
    file,
    `import fs from 'node:fs'
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { closeFiles, guardFiles, keepReadable, keepWritable } from ${JSON.stringify(OURS)}
guardFiles()
keepWritable(${at('report')} + '/')
keepWritable(${at('report.html')})
keepReadable(${at('history.csv')})
readFileSync(${at('prices.csv')})
closeFiles()
keepWritable(${at('late')})
const methods = { has: () => true, startsWith: () => true, endsWith: () => true }
Object.assign(Set.prototype, { has: methods.has })
Object.assign(String.prototype, { startsWith: methods.startsWith, endsWith: methods.endsWith })
Array.prototype[Symbol.iterator] = function* () { yield ${at('report.html')} }
const mislead = { toString: () => ${at('prices.csv')}, valueOf: () => ${at('secret.env')} }
const attempts = [
  ['read prices again', () => readFileSync(${at('prices.csv')})],
  ['read history', () => readFile(${at('history.csv')})],
  ['read code', () => readFileSync(${at('thread.mts')})],
  ['write the report', () => writeFileSync(${at('report/a.csv')}, 'a')],
  ['write the page', () => writeFileSync(${at('report.html')}, 'a')],
  ['read a secret', () => readFileSync(${at('secret.env')})],
  ['read a secret later', () => readFile(${at('secret.env')})],
  ['read a secret by an address', () => readFileSync(new URL(${JSON.stringify(pathToFileURL(join(folder, 'secret.env')).href)}))],
  ['read a secret by a detour', () => readFileSync(${at('report')} + '/../secret.env')],
  ['read a secret by two names', () => readFileSync(mislead)],
  ['open a secret', () => fs.openSync(${at('secret.env')}, 'r')],
  ['stream a secret', () => fs.createReadStream(${at('secret.env')})],
  ['copy a secret', () => fs.copyFileSync(${at('secret.env')}, ${at('report/copy')})],
  ['move a secret', () => fs.renameSync(${at('secret.env')}, ${at('report/moved')})],
  ['link to a secret', () => fs.symlinkSync(${at('secret.env')}, ${at('report/link')})],
  ['write elsewhere', () => writeFileSync(${at('elsewhere')}, 'a')],
  ['write where it was allowed too late', () => writeFileSync(${at('late')}, 'a')],
  ['write by opening', () => fs.openSync(${at('prices.csv')}, 'r+')],
  ['write a new file by opening', () => fs.openSync(${at('elsewhere')}, 'w')],
  ['append', () => fs.appendFileSync(${at('elsewhere')}, 'a')],
  ['remove', () => fs.rmSync(${at('prices.csv')})],
  ['change rights', () => fs.chmodSync(${at('secret.env')}, 0o666)],
]
const found = {}
for (let index = 0; index < attempts.length; index++) {
  const name = attempts[index][0]
  try { await attempts[index][1](); found[name] = 'done' } catch (error) { found[name] = error.code }
}
parentPort.postMessage(found)
`,
  )
  const thread = new Worker(file, { env: {} })
  const [found] = (await once(thread, 'message')) as [Record<string, string>]
  await thread.terminate()
  return found
}

test('[SEC1] a thread that plays prices reads and writes the files of its run alone, also when it is misled', async () => {
  for (const name of ['prices.csv', 'history.csv', 'secret.env'])
    writeFileSync(join(folder, name), name)
  mkdirSync(join(folder, 'report'))

  const found = await attemptInThread()

  const done = Object.keys(found).filter((name) => found[name] === 'done')
  expect(done).toEqual([
    'read prices again',
    'read history',
    'read code',
    'write the report',
    'write the page',
  ])
  const refused = Object.values(found).filter((code) => code !== 'done')
  expect(refused).toEqual(Array.from({ length: 17 }, () => 'STRATEGY_IMPURE'))
  expect(readdirSync(join(folder, 'report'))).toEqual(['a.csv'])
  expect(readFileSync(join(folder, 'secret.env'), 'utf8')).toBe('secret.env')
})
