import type { Command } from 'commander'
import type { ConfigOptions } from '../../config/load-config.ts'
import { asStarted } from '../operator/operated-config.ts'
import { addConfigOptions } from '../process/options.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import { EXIT_REFUSED, isRefused, planChange } from './plan-change.ts'

export function addPlanCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('plan'))
    .description(
      'show what `reload` or a restart would do with the configuration as it is now; does nothing',
    )
    .action(async (options: ConfigOptions) => {
      const planned = await planChange(asStarted(options))
      if (planned.kind === 'none') return setExit(planned.exitCode)
      return setExit(isRefused(planned) ? EXIT_REFUSED : 0)
    })
}
