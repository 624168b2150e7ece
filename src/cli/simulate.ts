import { type Command } from 'commander'

/** `intentd simulate`: the exchange alone. */
export function addSimulateCommand(program: Command, setExit: (code: number) => void): void {
  program
    .command('simulate')
    .description('run the simulated exchange alone')
    .action(() => setExit(0))
}
