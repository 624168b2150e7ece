// `npm run fuzz:tickers -- [answers] [seed]`: the scanner beside the reader that parses, on drawn and disturbed answers.
// Default: 300,000 answers. Ends with 1 at the first difference, which it prints.

import { compareReaders } from './disturbed-answers.ts'

const [answers = '300000', seed = 'tickers'] = process.argv.slice(2)
const { scanned, difference, ...counted } = compareReaders(seed, Number(answers))
console.log(`${counted.answers} answers, ${scanned} of them scanned`)
if (difference !== undefined) {
  console.error(`read differently:\n${difference}`)
  process.exitCode = 1
}
