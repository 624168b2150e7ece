import { parseArgs } from 'node:util'
import { figuresOf, keepFigures } from './kept-figures.ts'
import { takeWalks } from './take-walks.ts'
import { filesOf } from './walks.ts'

/**
 * `npm run walk`: the files that four stories of the program go through, in order, with how many of their functions.
 * With `--keep` their figures become those of docs/path-of-a-price.md.
 */
const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })

const walks = await takeWalks()
for (const walk of walks) {
  const { title, files, functions } = figuresOf(walk)
  console.log(`\n${title}: ${files} files, ${functions} functions`)
  for (const file of filesOf(walk)) {
    const entered = walk.functions.filter((name) => name.startsWith(`${file}:`))
    console.log(`  ${file} (${entered.length})`)
  }
}
if (values.keep) keepFigures(walks.map(figuresOf))
