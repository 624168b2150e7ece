import { plantMutant } from '../../worlds/mutant.ts'
import { LOSSES, PLANTED, type PlantedLoss } from './planted-loss.ts'

// Loaded before the program of a daemon.
const planted = process.env[PLANTED]
const loss = planted === undefined ? undefined : LOSSES[planted as PlantedLoss]
if (loss) plantMutant(loss)
