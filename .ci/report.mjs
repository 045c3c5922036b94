// The runner's reporter of .ci/run, for count.mjs. The runner's own JSON has no retries, and no errors outside of tests.
import { writeFileSync } from 'node:fs'

export default class Report {
  onTestRunEnd(modules, unhandledErrors) {
    const tests = modules.flatMap(({ children }) => [...children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed')
    const failed = tests.filter((test) => test.result().state === 'failed')
    const skipped = tests.filter((test) => test.result().state === 'skipped')
    // A test that passed has the errors of the attempts before.
    const retried = passed.filter((test) => test.result().errors?.length > 0)
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()])
    const unfinished = modules.filter((module) => ['pending', 'queued'].includes(module.state()))
    const report = {
      passed: passed.length,
      failed: failed.map((test) => ({ name: nameOf(test), reason: firstLine(test.result().errors[0]) })),
      retried: retried.map((test) => ({ name: nameOf(test), reason: firstLine(test.result().errors[0]) })),
      // Those that a condition skips give no reason.
      skipped: skipped.map((test) => ({ name: nameOf(test), reason: test.result().note })),
      errors: [
        ...unhandledErrors.map((error) => ({ name: 'unhandled error', reason: firstLine(error) })),
        ...suites.flatMap((suite) =>
          suite.errors().map((error) => ({ name: nameOf(suite), reason: firstLine(error) })),
        ),
        ...unfinished.map((module) => ({ name: nameOf(module), reason: 'did not end' })),
      ],
    }
    writeFileSync(process.env.CI_REPORT, JSON.stringify(report))
  }
}

const nameOf = (task) =>
  task.type === 'module' ? task.relativeModuleId : `${task.module.relativeModuleId} > ${task.fullName}`

const firstLine = (error) => `${error.name ?? 'Error'}: ${String(error.message ?? error).split('\n')[0]}`
