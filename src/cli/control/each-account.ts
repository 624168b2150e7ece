import { messageOf } from '../../lib/failure.ts'
import type { ShowOptions } from '../operator/find-daemon.ts'
import { exitOf } from '../process/exit-codes.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { writeOut } from '../../lib/write-out.ts'

const EXIT_NONE = 1

/** An exit code, or `none` where another account may have what was named. */
export type AccountResult = number | 'none'

export async function showEachAccount<Options extends ShowOptions & { readonly csv?: boolean }>(
  options: Options,
  show: (options: Options) => Promise<AccountResult> | AccountResult,
): Promise<number> {
  const config = loadOperated(options)
  const others = config.accounts ?? []
  if (others.length === 0) return toExitCode([await show(options)])
  const exits: AccountResult[] = []
  for (const file of [config.file, ...others]) {
    const own =
      file === config.file ? options : { ...options, config: file, set: [], state: undefined }
    const { name } = loadOperated(own)
    if (options.json || options.csv) print(name)
    else writeOut(`${exits.length > 0 ? '\n' : ''}== ${name}\n`)
    exits.push(await tryShow(() => show(own)))
  }
  return toExitCode(exits)
}

function toExitCode(exits: readonly AccountResult[]): number {
  const codes = exits.filter((one) => one !== 'none')
  return codes.length === 0 ? EXIT_NONE : Math.max(...codes)
}

async function tryShow(show: () => Promise<AccountResult> | AccountResult): Promise<AccountResult> {
  try {
    return await show()
  } catch (error) {
    print(messageOf(error))
    return exitOf(error)
  }
}
