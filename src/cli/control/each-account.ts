import { messageOf } from '../../lib/failure.ts'
import type { ShowOptions } from '../operator/find-daemon.ts'
import { exitOf } from '../process/exit-codes.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { writeOut } from '../../lib/write-out.ts'

export async function showEachAccount<Options extends ShowOptions & { readonly csv?: boolean }>(
  options: Options,
  show: (options: Options) => Promise<number> | number,
): Promise<number> {
  const config = loadOperated(options)
  const others = config.accounts ?? []
  if (others.length === 0) return show(options)
  const codes: number[] = []
  for (const file of [config.file, ...others]) {
    const own =
      file === config.file ? options : { ...options, config: file, set: [], state: undefined }
    const { name } = loadOperated(own)
    if (options.json || options.csv) print(name)
    else writeOut(`${codes.length > 0 ? '\n' : ''}== ${name}\n`)
    codes.push(await tryShow(() => show(own)))
  }
  return Math.max(...codes)
}

async function tryShow(show: () => Promise<number> | number): Promise<number> {
  try {
    return await show()
  } catch (error) {
    print(messageOf(error))
    return exitOf(error)
  }
}
