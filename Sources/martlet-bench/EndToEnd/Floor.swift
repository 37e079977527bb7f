import TestKit

/// One of the C programs that do the least: `floor-relay`, which only consumes, publishes and acknowledges, and
/// `floor-worker`, which pushes too. It measures its own rate, from the first message on; what it cost is the kernel's count
/// of the whole process.
enum Floor: String {
    case relay = "floor-relay"
    case worker = "floor-worker"

    func measure(_ options: EndToEndOptions, on stage: WorkerStage) async throws -> Measurement {
        let brokerBefore = await stage.broker.processorTime()
        let simulatorBefore = stage.simulator.processorTime
        let program = try await ChildProcess(try command(messages: options.messages, inFlight: options.inFlight, stage))
        var peakBytes = 0
        while program.isRunning {
            peakBytes = max(peakBytes, program.peakResidentBytes)
            try await Task.sleep(for: .milliseconds(20))
        }
        let exit = try await program.exit(within: .seconds(1))
        let brokerTime = await stage.broker.processorTime() - brokerBefore
        let simulatorTime = stage.simulator.processorTime - simulatorBefore
        // floor-relay: 100000 msgs 43000 msg/s cpu …
        let output = await program.output.allLines()
        let words = output.first?.split(separator: " ") ?? []
        guard exit.status == .exited(0), words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("\(rawValue): \(output + program.errors.linesSoFar)")
        }
        let messages = Double(options.messages)
        return Measurement(
            messagesPerSecond: rate, userMicroseconds: exit.usage.userTime.microseconds / messages,
            systemMicroseconds: exit.usage.systemTime.microseconds / messages,
            brokerMicroseconds: brokerTime.microseconds / messages,
            simulatorMicroseconds: simulatorTime.microseconds / messages, peakMegabytes: Double(peakBytes) / 1e6)
    }

    /// It ends after so many messages.
    func command(messages: Int, inFlight: Int, _ stage: WorkerStage) throws -> [String] {
        let common = [
            try Products.executable(rawValue), "\(messages)", "--port", "\(stage.broker.port)", "--prefetch",
            "\(inFlight)", "--in", WorkerStage.requests,
        ]
        switch self {
        case .relay: return common + ["--out", WorkerStage.results]
        case .worker:
            return common + [
                "--exchange", WorkerStage.results, "--apns", "\(stage.apnsPort)", "--authority", stage.authorityFile,
                "--authorization-file", try stage.writeAuthorization(),
            ]
        }
    }
}
