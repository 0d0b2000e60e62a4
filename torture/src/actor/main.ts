import { open } from 'keyspec'
import { now, pause } from '../clock.ts'
import { plantedConnection, plantedKeys, plantedSchema } from '../plant/plants.ts'
import { randomOf } from '../random.ts'
import { openClient } from './client.ts'
import type { Order, Sample, Told } from './order.ts'
import { recorderOf } from './record.ts'
import { routines } from './routines.ts'
import type { Routine, World } from './world.ts'

// A child process of the harness. It ends with it.
const order = JSON.parse(process.argv[2]!) as Order
process.on('disconnect', () => process.exit())
// The harness may have ended while this was loading.
if (!process.connected) process.exit()
// Ctrl-C reaches the whole group; the harness decides when an actor ends.
process.on('SIGINT', () => {})

const { name, client, role, address, history, seed, plants } = order
const random = randomOf(seed)
const opened = await openClient(client, address)
const connection = plantedConnection(opened.connection, plants)
const invalidations = role === 'all' ? await opened.tell?.() : undefined
const keys = plantedKeys(
  open(plantedSchema(plants), connection, invalidations === undefined ? {} : { invalidations }),
  connection,
  plants,
)
let last = 0
const world: World = {
  name,
  client,
  keys,
  record: recorderOf(history),
  random,
  unique: () => `${name}.${(last += 1)}`,
}

let stopping = false
process.on('message', (told: Told) => {
  if (told.tell === 'stop') stopping = true
  else if (told.tell === 'stall') stall(told.ms)
  else void sample().then((taken) => process.send!({ sample: taken }))
})
if (plants.includes('flat')) setInterval(() => setInterval(() => {}, 60_000), 100)
process.send!({ ready: true })

await Promise.all(routines[role].map(repeat))
opened.close()
process.exit()

async function repeat(routine: Routine): Promise<void> {
  while (!stopping) {
    await routine.step(world)
    await pause(routine.pauseMs * (0.5 + random.next()))
  }
}

/** Holds up the event loop. */
function stall(ms: number): void {
  const until = now() + ms
  while (now() < until);
}

async function sample(): Promise<Sample> {
  globalThis.gc?.()
  await pause(10)
  globalThis.gc?.()
  const { emitter } = opened
  return {
    heapBytes: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().length,
    listeners:
      emitter === undefined
        ? 0
        : emitter.eventNames().reduce((sum, event) => sum + emitter.listenerCount(event), 0),
  }
}
