import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import '../../../src/strategy/install-contract.ts'
import { type KilledResult, runKilledCommands } from './killed-commands.ts'
import { type CampaignResult, runWholeCampaign } from './whole-campaign.ts'

/** One kill costs a start of some seconds. */
const ACTS_A_KILL = 500

const USAGE = `npm run test:campaign -- --acts N --daemons K --seed TEXT

Whole daemons are asked by their ports, by assistants, in the chat and by signals, at random and with bad intent.
After each act the book is compared: nothing is riskier than before without a code that was entered for just that.
No secret stands in an answer, a log line, a file, a record or a recording, and no order leaves that must not.
After every 500 acts another daemon, a real process, is killed right after it has answered a command, or before:
what it called obeyed is in the journal, and the same request is answered truly and carried out once.

  --acts N      so many in all; 100000 unless told
  --daemons K   so many at once, each in a process of its own; 4 unless told
  --seed TEXT   another one draws others

It fails (exit code 1) when it finds something. Files lie in TMPDIR.
`

const { values } = parseArgs({
  options: {
    acts: { type: 'string', default: '100000' },
    daemons: { type: 'string', default: '4' },
    seed: { type: 'string', default: 'campaign' },
    help: { type: 'boolean', default: false },
  },
})
const [acts, daemons] = [Number(values.acts), Number(values.daemons)]
if (values.help || !isCount(acts) || !isCount(daemons) || daemons > acts) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 64)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}

if (process.send === undefined) await runAll()
else {
  const onProgress = (done: number, found: number): void =>
    console.error(`${values.seed}: ${done} acts, ${found} found`)
  const whole = await runWholeCampaign({ seed: values.seed, acts, onProgress })
  const kills = Math.ceil(acts / ACTS_A_KILL)
  const killed = await runKilledCommands({ seed: values.seed, kills })
  process.send({ ...whole, killed })
  process.disconnect()
}

interface ShareResult extends CampaignResult {
  readonly killed: KilledResult
}

async function runAll(): Promise<void> {
  const share = Math.ceil(acts / daemons)
  const results = await Promise.all(
    Array.from({ length: daemons }, async (_, index): Promise<ShareResult | undefined> => {
      const seed = `${values.seed}-${index + 1}`
      const child = fork(import.meta.filename, [`--acts=${share}`, '--daemons=1', `--seed=${seed}`])
      let result: ShareResult | undefined
      child.on('message', (said) => {
        result = said as ShareResult
      })
      await once(child, 'exit')
      return result
    }),
  )
  console.log(JSON.stringify(results, undefined, 2))
  const isClean = results.every(
    (one) =>
      one !== undefined &&
      one.violations.length + one.leaks.length + one.killed.violations.length === 0,
  )
  const done = results.reduce((sum, one) => sum + (one?.acts ?? 0), 0)
  console.log(`${done} acts: ${isClean ? 'nothing found' : 'something was found'}`)
  process.exitCode = isClean ? 0 : 1
}
