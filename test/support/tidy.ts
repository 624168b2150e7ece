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

/** What to do about a violation. */
const REMEDIES: Readonly<Record<Violation['rule'], string>> = {
  layer:
    'move what both need down to domain or lib, or hand it in; layers: test/support/tidy/layers.ts',
  'strategy-import': 'import it from intentd/strategy',
  'pure-import': 'hand in what it computed, or make the call in the interpreter or a driver',
  synchronous: 'make it an effect, whose answer comes back as an event',
  'folder-order':
    'move what both need to a lower folder, or place the folder in test/support/tidy/folders.ts',
  'folder-cycle': 'move what both need to a folder below them',
  cycle: 'move what both need to a file of its own',
  'dead-file': 'import it, remove it, or list it as an entry point in test/support/tidy/folders.ts',
  'verb-import': 'move what both commands need to src/cli/process or src/cli/operator',
  'daemon-imports': 'move what is needed below daemon, or read it through the control interface',
  'owned-call':
    'take what is handed in; a command and the daemon take systemClock (src/lib/clock.ts) and the like',
  proof: 'ask the file that may make it',
  'state-owner':
    'call a function of the owning file; owners: core.ts and test/support/tidy/owners.ts',
  'file-length': 'split it by idea: two subjects, two files',
  'function-length': 'name a part of it and make it a function',
  'file-name': 'name the one subject of the file, in kebab-case',
  barrel: 'import from the file that defines it',
  any: 'parse the unknown value with a schema',
  'type-import': 'move `type` before the brace',
  'type-name': 'rename the one that fewer files use',
  reminder: 'do it now, or leave it out',
  'old-word': 'docs/glossary.md has the words',
  'comment-opening': 'begin with its subject, and say why',
  trace: 'name it relative to the repository, or leave it out',
}

export function checkSourceTree(sources: ReadonlyMap<string, string>): Violation[] {
  const tree = new Map([...sources].map(([path, source]) => [path, readSource(path, source)]))
  const ofFiles = [...tree.values()].flatMap((file) => FILE_RULES.flatMap((rule) => rule(file)))
  return [...ofFiles, ...TREE_RULES.flatMap((rule) => rule(tree))]
}

export function toText({ rule, file, line, message }: Violation): string {
  return `${file}:${line} ${message} [${rule}]: ${REMEDIES[rule]}`
}
