import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { WalkLog } from './walk-log.ts'
import { type Walk, walkOfBacktest, walksOfDaemons } from './walks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const hook = fileURLToPath(new URL('note-functions.ts', import.meta.url))

/** Runs the paper daemon with its two grids, and a backtest, and cuts the stories out of what they entered. */
export async function takeWalks(): Promise<readonly Walk[]> {
  const folder = mkdtempSync(join(tmpdir(), 'intentd-walks-'))
  try {
    const runs = ['4s', '4s', '4s', '4s', '15s'].map((duration, run) => ({
      duration,
      place: join(folder, String(run)),
    }))
    const daemons: WalkLog[] = []
    for (const { duration, place } of runs) {
      await note(place, ['run', '--config', writeConfig(place), '--for', duration])
      daemons.push(WalkLog.read(place, 0))
    }
    const place = join(folder, 'backtest')
    const coarse = ['--days', '1', '--set', 'backtest.pollMs=60000']
    // A thread in which strategies reach nothing could not write the list either.
    await note(place, [
      'backtest',
      writeConfig(place, 'isolation: inline\n'),
      ...coarse,
      '--out',
      join(place, 'out'),
    ])
    return [
      ...walksOfDaemons(daemons),
      walkOfBacktest(WalkLog.read(place, 0), WalkLog.read(place, 1)),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Two instruments, each with a ladder of 16 orders, and nothing else. */
function writeConfig(folder: string, more = ''): string {
  mkdirSync(folder)
  const shipped = join(root, 'config')
  const grids = ['grid-btc.yaml', 'grid-eth.yaml']
  for (const name of grids) {
    const grid = readFileSync(join(shipped, 'strategies', name), 'utf8')
    writeFileSync(
      join(folder, name),
      `${grid.replace('../../strategies/', join(root, 'strategies/'))}${more}`,
    )
  }
  const [settings = ''] = readFileSync(join(shipped, 'paper.yaml'), 'utf8').split(/^strategies:/m)
  const path = join(folder, 'paper.yaml')
  const own = settings
    .replace('../.intentd/paper', join(folder, 'state'))
    .replace('port: 8790', 'port: 0')
  writeFileSync(path, `${own}strategies: [${grids.join(', ')}]\n`)
  return path
}

/** Runs the program; its lists lie beside its folder. */
async function note(place: string, args: readonly string[]): Promise<void> {
  const program = join(root, 'bin', 'intentd.mjs')
  await promisify(execFile)(
    process.execPath,
    ['--import', pathToFileURL(hook).href, program, ...args],
    {
      cwd: root,
      env: Object.assign({}, process.env, { WALK_OUT: place }),
    },
  )
}
