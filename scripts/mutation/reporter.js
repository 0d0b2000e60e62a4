// @ts-check
// StrykerJS's plugin: a reporter that sends each result to the parent process.

class Sender {
  /** @param {import('./typescript.js').MutantResult} result */
  onMutantTested(result) {
    process.send?.({ result })
  }
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'keyspec', injectableClass: Sender }]
