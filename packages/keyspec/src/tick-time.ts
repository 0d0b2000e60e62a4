const READINGS = 64

let time = 0
let left = 0

const endTick = () => {
  left = 0
}

/**
 * The time of `performance.now()` when this tick first asked for it, or one of the 64 before: on virtual machines reading a
 * clock can cost more than all the rest of a hit, and who awaits nothing but hits stays in one tick.
 */
export function tickTime(): number {
  if (left === 0) {
    time = performance.now()
    left = READINGS
    process.nextTick(endTick)
  }
  left -= 1
  return time
}
