import { dirname, resolve } from 'node:path'
import { checkFile, objectToKind, type PartialSettings } from './yaml/checked-file.ts'
import { checkAccount, checkInstruments, checkMarket } from './cross-checks.ts'
import { type ConfigRequest, applyOverrides } from './load-config.ts'
import { checkMarketFiles, resolveMarket } from './market-files.ts'
import { ConfigError, type Problem } from './yaml/problem.ts'
import { type SimulatorFile, simulatorFileSchema } from './schema/simulator-schema.ts'
import type { YamlSource } from './yaml/yaml-source.ts'

/** @throws ConfigError with all problems */
export function loadSimulatorConfig({
  file,
  overrides = [],
  played,
  cwd,
}: ConfigRequest): SimulatorFile {
  const path = resolve(cwd, file)
  const change = (source: YamlSource) => applyOverrides(source, overrides)
  const checked = checkFile(simulatorFileSchema, { file: path, cwd, change })
  const { source, settings = {}, value, problems } = checked
  const objection = source && objectToKind(source, file, 'simulator')
  if (objection) throw new ConfigError([objection])
  const found =
    source === undefined
      ? problems
      : [
          ...problems,
          ...checkSimulator(source, settings, {
            directory: dirname(path),
            recorded: played?.recorded,
          }),
        ]
  if (source === undefined || value === undefined || found.length > 0) throw new ConfigError(found)
  return { ...value, market: resolveMarket(value.market, dirname(path)) }
}

function checkSimulator(
  source: YamlSource,
  settings: PartialSettings<SimulatorFile>,
  {
    directory,
    recorded,
  }: { readonly directory: string; readonly recorded: readonly string[] | undefined },
): Problem[] {
  const { market, instruments, accounts = [] } = settings
  const seen = new Set<string>()
  return [
    ...checkInstruments(source, instruments),
    ...checkMarket(source, ['market'], { market, instruments, recorded }),
    ...checkMarketFiles({ source, path: ['market'], directory }, market),
    ...(market?.live === undefined
      ? []
      : [
          source.problemOfKey(
            ['market', 'live'],
            'only the simulator inside the daemon follows live prices',
          ),
        ]),
    ...accounts.flatMap((account, index) => {
      const problems = checkAccount(source, ['accounts', index], account ?? {})
      const name = account?.name
      if (name === undefined) return problems
      if (seen.has(name))
        problems.push(
          source.problem(['accounts', index, 'name'], `${name} is another account's name`),
        )
      seen.add(name)
      return problems
    }),
  ]
}
