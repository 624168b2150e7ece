// Each file in tidy/ holds a group: tables first, checks below.

import { FOLDER_RULES } from './tidy/folders.ts'
import { LAYER_RULES } from './tidy/layers.ts'
import { NAME_RULES } from './tidy/names.ts'
import { OWNER_RULES, STATE_RULES } from './tidy/owners.ts'
import { SHAPE_RULES } from './tidy/shape.ts'
import { VERB_RULES } from './tidy/verbs.ts'
import { type FileRule, type TreeRule, type Violation, readSource } from './tidy/source-tree.ts'

const FILE_RULES: readonly FileRule[] = [...LAYER_RULES, ...OWNER_RULES, ...SHAPE_RULES]
const TREE_RULES: readonly TreeRule[] = [
  ...FOLDER_RULES,
  ...STATE_RULES,
  ...VERB_RULES,
  ...NAME_RULES,
]

export function checkSourceTree(sources: ReadonlyMap<string, string>): Violation[] {
  const tree = new Map([...sources].map(([path, source]) => [path, readSource(path, source)]))
  const ofFiles = [...tree.values()].flatMap((file) => FILE_RULES.flatMap((rule) => rule(file)))
  return [...ofFiles, ...TREE_RULES.flatMap((rule) => rule(tree))]
}

export function toText({ rule, file, line, message }: Violation): string {
  return `${file}:${line} ${message} [${rule}]`
}
