import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { DaemonConfig } from './load-config.ts'
import { isOfKind, readTextFile, shownPath } from './yaml/checked-file.ts'
import { YamlSource } from './yaml/yaml-source.ts'

/** A folder of strategies has a few dozen files. */
const FILES_MAX = 200

const listSchema = z.array(z.unknown())

/**
 * Files of strategies that the main file does not list were probably forgotten. Unreadable files
 * are passed over.
 */
export function listUnlistedStrategies(
  configs: readonly DaemonConfig[],
  cwd: string,
): readonly string[] {
  const folders = new Set(configs.map(({ file }) => dirname(file)))
  const own = configs.flatMap(({ strategies }) => strategies.map(({ file }) => file))
  const places = [...[...folders].map((folder) => join(folder, 'strategies')), ...own.map(dirname)]
  // `new-strategy` writes a main file beside each strategy.
  const beside = new Set([...folders, ...places, ...places.map(dirname)])
  const mainFiles = [...beside].flatMap(listYamlFiles)
  const listed = new Set([...own, ...mainFiles.flatMap(listStrategiesOf)])
  return [...new Set(places)]
    .flatMap(listYamlFiles)
    .filter((file) => !listed.has(file) && isStrategy(file))
    .map((file) => shownPath(file, cwd))
}

function listYamlFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
    return names.slice(0, FILES_MAX).map((name) => join(folder, name))
  } catch {
    return []
  }
}

function readUsable(file: string): YamlSource | undefined {
  const read = readTextFile(file)
  if ('failure' in read) return undefined
  const source = new YamlSource(read.text, file)
  return source.check().usable ? source : undefined
}

function listStrategiesOf(mainFile: string): readonly string[] {
  const list = listSchema.safeParse(readUsable(mainFile)?.read(listSchema, ['strategies']))
  if (!list.success) return []
  return list.data.flatMap((name) =>
    typeof name === 'string' ? resolve(dirname(mainFile), name) : [],
  )
}

function isStrategy(file: string): boolean {
  const source = readUsable(file)
  return source !== undefined && isOfKind(source, 'strategy')
}
