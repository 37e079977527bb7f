import APNS
import APNSProtocol
import APNSSimulator
import Crypto
import Delivery
import EventLoop
import Testing

/// Channel management against the simulator, on virtual time.
@Suite struct ChannelClientTests {
    private static let app = SimulatedApps.bundleID(0)
    private static let endpoint = SimulatedNetwork.apns(.sandbox, worker: 0)

    private let loop = VirtualLoop(seed: 1)
    private let apns: SimulatorServer
    private let fixture: Fixture

    /// The client under test, with its last report.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class Fixture: @unchecked Sendable {
        let client: ChannelClient
        var report: ChannelResult?

        init(_ client: ChannelClient) { self.client = client }
    }

    init() throws {
        let privateKey = try #require(SimulatedApps.privateKey)
        let publicKey = try privateKey.publicKey()
        let key = try ProviderKey(
            privateKey: privateKey, keyID: SimulatedApps.keyID(0), teamID: SimulatedApps.teamID(0))
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(100)
        var state = SimulatorState()
        state.add(.simulated(0, publicKey, isBound: false))
        state.addApp(bundleID: Self.app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: true)
        (apns, fixture) = try loop.enter { [loop, configuration, state] in
            let apns = SimulatorServer(loop: loop, configuration: configuration, state: state)
            try apns.listen(on: Self.endpoint, as: Service(.sandbox, .channelManagement))
            let connector = ByteConnector(loop: loop, endpoint: Self.endpoint)
            let pool = PoolConfiguration(environment: .sandbox, key: key, authority: "manage.test")
            return (apns, Fixture(ChannelClient(loop: loop, connector: connector, configuration: pool)))
        }
    }

    private func perform(_ request: ChannelRequest, of app: String = app) throws -> ChannelResult {
        fixture.report = nil
        loop.enter { [loop, fixture] in
            _ = Task(executorPreference: loop) {
                fixture.report = await fixture.client.perform(request, of: app, id: UUIDValue(high: 1, low: 2))
            }
        }
        #expect(loop.run(limit: .seconds(300), until: { fixture.report != nil }) == .done)
        return try #require(fixture.report)
    }

    private func close() {
        loop.enter { fixture.client.close() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    @Test func allOfTenThousandChannelsAreListed() throws {
        loop.enter {
            for number in 0..<APNSLimits.channelsPerAppMax {
                let id = "channel+\(number)" + String(repeating: "/", count: 40)
                apns.state.add(Channel(id: id, bundleID: Self.app, environment: .sandbox, storagePolicy: .none))
            }
        }
        let report = try perform(.list)
        #expect(report.outcome == .done && Set(report.channels ?? []).count == APNSLimits.channelsPerAppMax)
        let full = try perform(.create(.newest))
        #expect(full.outcome == .refused && full.reason == "CannotCreateChannelConfig")
        #expect(full.storagePolicy == nil, "a refused create request has a storage policy")
        close()
    }

    /// After a lost answer, the client lists the channels and reports new channels. It does not repeat the request.
    @Test(arguments: [true, false]) func aLostAnswerIsResolvedByListingWithoutARepeat(isMade: Bool) throws {
        let before = try perform(.create(.none))
        #expect(
            before.outcome == .done && before.channelID != nil
                && before.storagePolicy == ChannelRequest.StoragePolicy.none)
        loop.enter { [loop, apns] in
            var isCut = false
            apns.memory.onRequest = { request, _ in
                guard !isCut, request.headers.contains(where: { $0.name == ":method" && $0.value == "POST" }) else {
                    return
                }
                isCut = true
                if !isMade {
                    // Disabling broadcasts deletes all channels of the app, as if the create request had been lost.
                    for allows in [false, true] {
                        apns.state.addApp(
                            bundleID: Self.app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: allows)
                    }
                }
                for connection in loop.network.connections where connection.isOpen {
                    loop.schedule(after: .milliseconds(10)) { connection.cut() }
                }
            }
        }
        let report = try perform(.create(.newest))
        #expect(report.outcome == .unknown && report.channelID == nil)
        #expect(report.madeSince?.count == (isMade ? 1 : 0))
        #expect(
            report.sentence
                == "APNs may have executed the request: the connection was lost. "
                + (isMade
                    ? "One new channel exists, created by this request or by another client."
                    : "No channel has been created so far."))
        loop.enter { apns.memory.onRequest = { _, _ in } }
        #expect(try perform(.list).channels?.count == (isMade ? 2 : 0))
        close()
    }

    @Test func anotherTeamsAppIsRefused() throws {
        let report = try perform(.list, of: "com.example.stranger")
        #expect(report.outcome == .refused && report.status == 403, "\(report)")
        close()
    }

    private func fault(_ action: FaultAction) throws {
        try loop.enter { try apns.faults.put(Fault(id: "once", action: action, countMax: 1)) }
    }

    @Test(arguments: [Reason.badChannelID, .channelNotRegistered, .missingPushType, .cannotCreateChannelConfig])
    func aRefusalIsReportedWithItsReason(reason: Reason) throws {
        #expect(try perform(.list).outcome == .done)
        try fault(.answer(.refused(reason)))
        let report = try perform(.read("dHN0LXNyY2gtY2hubA=="))
        #expect(report.outcome == .refused && report.reason == reason.text && report.status == reason.status)
        close()
    }

    /// Rows 144 to 147 of the conformance table. The client reports a refused create request and does not repeat it.
    @Test(arguments: [Reason.badRequestParams, .badRequestPayload, .missingChannelQueueSize, .invalidPushType])
    func aRefusedCreateIsReportedAndNotRepeated(reason: Reason) throws {
        let seen = Seen()
        loop.enter { [loop, apns] in
            apns.memory.onRequest = { request, _ in
                let method = request.headers.first { $0.name == ":method" }?.value ?? "-"
                seen.methods.append(method)
                guard method == "GET", seen.methods.count == 1 else { return }
                // The list is answered normally. The fault affects the next request.
                loop.schedule(after: .milliseconds(10)) {
                    do { try apns.faults.put(Fault(id: "create", action: .answer(.refused(reason)))) } catch {
                        seen.failure = error
                    }
                }
            }
        }
        let report = try perform(.create(.newest))
        if let failure = seen.failure { throw failure }
        #expect(report.outcome == .refused && report.reason == reason.text && report.status == reason.status)
        #expect(report.channelID == nil && report.madeSince == nil && seen.methods == ["GET", "POST"])
        loop.enter { apns.faults.removeAll() }
        #expect(try perform(.list).channels == [])
        close()
    }

    /// The requests and the failure that a test observed.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class Seen: @unchecked Sendable {
        var methods: [String] = []
        var failure: (any Error)?
    }

    @Test func aMissingChannelCountsAsDeleted() throws {
        let channel = try #require(try perform(.create(.none)).channelID)
        for _ in 0..<2 {
            let report = try perform(.delete(channel))
            #expect(report.outcome == .done && report.channelID == channel)
        }
        #expect(try perform(.read(channel)).outcome == .refused)
        close()
    }

    @Test(arguments: [(Reason.badChannelID, ChannelResult.Outcome.refused), (.internalServerError, .unknown)])
    func aChannelThatMayExistDoesNotCountAsDeleted(reason: Reason, outcome: ChannelResult.Outcome) throws {
        let channel = try #require(try perform(.create(.none)).channelID)
        try fault(.answer(.refused(reason)))
        let report = try perform(.delete(channel))
        #expect(report.outcome == outcome && report.reason == reason.text)
        #expect(try perform(.list).channels == [channel])
        close()
    }

    @Test func noChannelIsCreatedIfTheListFails() throws {
        try fault(.answer(.refused(.internalServerError)))
        let report = try perform(.create(.newest))
        #expect(report.outcome == .failed && report.status == 500)
        #expect(report.sentence?.hasPrefix("No channel was created: cannot list the existing channels: ") == true)
        #expect(try perform(.list).channels == [])
        close()
    }

    @Test func aListWithoutABodyIsEmpty() throws {
        try fault(.answer(Answer(status: 200)))
        let report = try perform(.list)
        #expect(report.outcome == .done && report.channels == [])
        close()
    }
}
