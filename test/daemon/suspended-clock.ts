// Loaded into a daemon by `node --import`: once the file INTENTD_SUSPENDED is there, the machine's clock has gone on for
// a day, as after a sleep. It is looked for at each call, so that whatever is done first when it wakes sees it.
import { existsSync } from 'node:fs'

const DAY_MS = 86_400_000

const file = process.env['INTENTD_SUSPENDED'] ?? ''
const trueNow = Date.now.bind(Date)

Date.now = () => trueNow() + (existsSync(file) ? DAY_MS : 0)
