import CommandKit
import EventLoop
import Glibc
import RegistrationStores
import Registrations
import TestKit

/// A client that uses a store as lanes and the consumer of commands do, without broker and APNs.
struct StoreClient {
    /// The name of the hidden command that `registrations` starts.
    static let name = "store-client"
    /// The maximum number of registrations or users that a client uses in rotation.
    static let registrationsMax = 500_000
    /// The duration of the warm-up, as a share of the measured time.
    private static let warmUpShare = 0.1

    let work: StoreWork
    /// The address of the store.
    let store: String
    /// The path of the key file.
    let keys: String
    let users: Int
    let seconds: Int

    /// The command line of the process.
    var command: [String] {
        get throws {
            [
                try Products.executable("martlet-bench"), Self.name, "--work", work.rawValue, "--store", store,
                "--keys",
                keys, "--users", "\(users)", "--seconds", "\(seconds)",
            ]
        }
    }

    /// Uses the store for the given time, and returns the line of output.
    func run() async throws -> String {
        let store = try RegistrationStore(StoreAddress(store), keys: try RegistrationKeys(path: keys))
        return try await onEpollLoop { loop in
            switch work {
            case .lookups: try await lookUp(in: store.reader(on: loop), on: loop)
            case .registrations, .single: try await register(in: store.writer(on: loop), on: loop)
            }
        }
    }

    private func lookUp(in reader: RegistrationReader, on loop: EpollLoop) async throws -> String {
        try await StoreOpening.wait { reader.start(onChange: $0) }
        let load = LookupLoad(reader, .pairs(users), on: loop)
        let line = try await measure(load, inFlightMax: DeviceLookup.lookupsInFlightMax)
        await reader.close()
        return line
    }

    private func register(in writer: RegistrationWriter, on loop: EpollLoop) async throws -> String {
        try await StoreOpening.wait { writer.start(onChange: $0) }
        let load = RegistrationLoad(
            writer, .pairs(users), batchCount: work == .single ? 1 : CommandBatch.commandsMax, on: loop)
        let line = try await measure(load, inFlightMax: 1)
        await writer.close()
        return line
    }

    private func measure(_ load: StoreLoad, inFlightMax: Int) async throws -> String {
        let duration = Duration.seconds(seconds)
        _ = try await load.run(for: duration * Self.warmUpShare, inFlightMax: inFlightMax)
        let (began, usedBefore) = (ContinuousClock.now, ProcessFigures.processorTime(of: getpid()))
        let count = try await load.run(for: duration, inFlightMax: inFlightMax)
        let rate = Double(count) / ((ContinuousClock.now - began) / .seconds(1))
        let cost = (ProcessFigures.processorTime(of: getpid()) - usedBefore).microseconds / Double(count)
        return "martlet: \(count) done \(rate) /s cpu \(cost) us"
    }
}

/// The command of the process that ``RegistrationsBenchCommand`` measures.
struct StoreClientCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: [StoreClient.name], summary: "Use a store of registrations.",
        options: [
            OptionSyntax(
                name: "work", value: "WORK", help: "work of the client", isRequired: true,
                values: .words(StoreWork.allCases.map(\.rawValue))),
            OptionSyntax(name: "store", value: "ADDRESS", help: "address of the store", isRequired: true),
            OptionSyntax(name: "keys", value: "FILE", help: "key file of the store", isRequired: true),
            OptionSyntax(name: "users", value: "N", help: "users in the store", isRequired: true),
            OptionSyntax(name: "seconds", value: "N", help: "duration in seconds", isRequired: true),
        ], isHidden: true)

    let client: StoreClient

    init(_ parsed: ParsedArguments) throws(UsageError) {
        client = StoreClient(
            work: parsed.word("work") ?? .lookups, store: parsed.required("store"), keys: parsed.required("keys"),
            users: try parsed.integer("users", upTo: RegistrationsOptions.usersMax) ?? 0,
            seconds: try parsed.integer("seconds", upTo: RegistrationsOptions.secondsMax) ?? 0)
    }

    func measure() async throws { print(try await client.run()) }
}
