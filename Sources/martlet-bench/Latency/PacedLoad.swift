import AMQP
import EventLoop
import JSON
import TestKit

/// A load of requests at a constant rate for one program.
struct PacedLoad {
    /// The time before the measurement, in which connections open and memory grows.
    private static let warmUpSeconds = 2
    /// The time limit for results.
    private static let resultSecondsMax = 60

    let fixture: WorkerFixture
    let rate: Int
    let seconds: Int
    let message: BenchMessage

    func measure(_ program: BenchProgram) async throws -> LatencyFigures {
        try await fixture.purge()
        let process = try await start(program)
        _ = try await publish(0..<Self.warmUpSeconds * rate)
        let before = process.processorTime
        let (messages, times) = try await publish(Self.warmUpSeconds * rate..<(Self.warmUpSeconds + seconds) * rate)
        let used = process.processorTime - before
        let peakBytes = process.peakResidentBytes
        try await end(program, process)
        let latencies = try await latencies(of: messages, publishedAt: times)
        await fixture.testClient.forget(WorkerFixture.results)
        return LatencyFigures(
            latency: Percentiles(of: latencies), processorMicroseconds: used.microseconds / Double(messages.count),
            peakMegabytes: Double(peakBytes) / 1e6)
    }

    private func start(_ program: BenchProgram) async throws -> ChildProcess {
        guard let baseline = program.baseline else { return try await fixture.worker() }
        // The count exceeds the number of published requests, so that the program does not exit.
        let count = (Self.warmUpSeconds + seconds) * rate + 1
        return try await ChildProcess(baseline.command(count, EndToEndOptions(), fixture))
    }

    private func end(_ program: BenchProgram, _ process: ChildProcess) async throws {
        guard program.baseline != nil else { return try await fixture.end(process) }
        guard process.isRunning else {
            throw ProcessError("cannot measure \(program.rawValue): \(process.errors.linesSoFar)")
        }
        _ = try await process.terminate()
    }

    /// Publishes requests and waits for their results. Returns the requests with their publish times.
    private func publish(_ numbers: Range<Int>) async throws -> (messages: [OutgoingMessage], times: [MonotonicTime]) {
        let messages = numbers.map { message.message($0, queue: WorkerFixture.requests) }
        let times = try await fixture.testClient.publish(messages, perSecond: rate)
        try await fixture.testClient.collected(
            WorkerFixture.results, atLeast: numbers.upperBound, within: .seconds(Self.resultSecondsMax))
        return (messages, times)
    }

    private func latencies(
        of messages: [OutgoingMessage], publishedAt times: [MonotonicTime]
    ) async throws -> [Duration] {
        let results = await fixture.testClient.collected(WorkerFixture.results)
        let arrivals = await fixture.testClient.arrivals(WorkerFixture.results)
        let arrivalByID = Dictionary(zip(results.map(Self.requestID), arrivals)) { first, _ in first }
        let latencies = zip(messages, times).compactMap { message, time in
            arrivalByID[message.messageID].map { time.duration(to: $0) }
        }
        guard latencies.count == messages.count else {
            throw ProcessError("only \(latencies.count) of \(messages.count) requests have a result")
        }
        return latencies.sorted()
    }

    /// Returns the ID of a result's request. A result of a request to a user names it in the body.
    private static func requestID(of result: IncomingMessage) -> String {
        let body = try? JSONDocument(result.body).root
        return body?["request_id"]?.string ?? result.properties.messageID ?? ""
    }
}
