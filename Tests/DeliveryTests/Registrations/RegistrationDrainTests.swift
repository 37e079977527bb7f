import EventLoop
import Registrations
import TestKit
import Testing

@testable import Delivery

@Suite struct RegistrationDrainTests {
    @Test func `A close finishes the commands that have arrived`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1) }
        for number in 0..<600 { harness.send(number, harness.register(number, user: "user-\(number)")) }
        #expect(harness.run { harness.queue.unsettled == 600 })
        harness.close()
        #expect(harness.liveRows == 600 && harness.isDrained && harness.broker.requeued == 0)
    }

    @Test func `A close requeues the commands that are unfinished at the deadline`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(8) }
        for number in 0..<600 { harness.send(number, harness.register(number, user: "user-\(number)")) }
        #expect(harness.run { harness.queue.unsettled == 600 })
        let began = harness.loop.now.monotonic
        harness.close(deadlineSeconds: 10)
        #expect(began.duration(to: harness.loop.now.monotonic) <= .seconds(20))
        #expect(harness.queue.unsettled == 0 && harness.queue.ready.count == 600 - CommandBatch.commandsMax)
    }

    @Test func `A close does not wait for a store that is away`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1) }
        for number in 0..<10 { harness.send(number, harness.register(number, user: "user-\(number)")) }
        #expect(harness.run { !harness.writer.batchSizes.isEmpty })
        harness.onLoop { harness.store.fault = StoreFault(.unreachable, "The server is away.") }
        harness.pass(seconds: 2)
        let began = harness.loop.now.monotonic
        harness.close(deadlineSeconds: 100)
        #expect(began.duration(to: harness.loop.now.monotonic) <= .seconds(10))
        #expect(harness.queue.unsettled == 0 && harness.queue.ready.count == 10)
    }

    @Test func `A close waits until events are deleted`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 3000...3000 }
        harness.send(2, harness.register(1, user: "bob"))
        #expect(harness.run { harness.results.count == 1 })
        harness.close(deadlineSeconds: 30)
        #expect(harness.isDrained && harness.store.events.isEmpty && harness.broker.requeued == 0)
    }

    @Test func `The earliest deadline ends every close`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1000) }
        harness.send(1, harness.register(1, user: "ann"))
        #expect(harness.run { !harness.writer.batchSizes.isEmpty })
        let began = harness.loop.now.monotonic
        harness.beginClosing(deadlineSeconds: 500)
        harness.pass(seconds: 1)
        harness.beginClosing(deadlineSeconds: 5)
        #expect(harness.run { harness.isClosed })
        #expect(began.duration(to: harness.loop.now.monotonic) <= .seconds(20))
        #expect(harness.queue.ready.count == 1)
    }
}
