import AMQP
import APNS
import Crypto
import Delivery
import EventLoop
import Telemetry

/// Lanes are made anew for another configuration. They begin beside those before, which take no more messages then,
/// settle what they hold, and close their connections: so every setting that lanes are made of changes in one way.
extension WorkerProcess {
    /// How long the new lanes may take until they are ready, as long as those before are.
    private static let readySecondsMax: Int64 = 30
    /// How long the broker may take until it is reached, and for each answer.
    private static let brokerSecondsMax = 15
    /// After what may pass by itself, how long until a change is tried again.
    private static let retrySeconds: Int64 = 10
    /// How long those before may take to settle what they hold; then they close, and the broker delivers it again. It
    /// takes back after 30 minutes (`consumer_timeout`) what is not settled, and what became of that is published from
    /// memory: longer than a queue of results stays full.
    private static let finishSecondsMax = 6 * 3600
    /// So many generations may do so at once; further changes wait.
    private static let leavingMax = 4
    private static let lookMilliseconds: Int64 = 50
    /// How long those before may take until they take no more messages, and the change is said to be in force.
    private static let stoppedSecondsMax: Int64 = 15

    /// Why a change is not put in force.
    private struct Refusal: Error {
        var reason: String
        /// Nothing is wrong with the files.
        var mayPass = false
    }

    func changed(_ change: ConfigurationWatcher.Change) {
        guard life.isRunning else { return }
        switch change {
        case .payloadSchemas(let files):
            newestPayloadSchemas = files
            group.replace(files)
            coming?.replace(files)
        case .configuration(let version, let components):
            nextChange = (version, components)
            // It was read after them.
            newestPayloadSchemas = nil
            // What is newer need not wait.
            if let retry = retry.take() { loop.cancel(retry) }
            takeNextChange()
        }
    }

    private func takeNextChange() {
        guard life.isRunning, !isChanging, retry == nil, nextChange != nil else { return }
        guard leaving.count < Self.leavingMax, let (version, components) = nextChange.take() else {
            return log.warning(.configurationWaits)
        }
        isChanging = true
        Task(executorPreference: loop) {
            await self.change(to: version, components)
            self.isChanging = false
            self.takeNextChange()
        }
    }

    private func change(to version: ConfigurationVersion, _ components: WorkerComponents) async {
        do {
            let new = try LaneGroup(version, components, log: log)
            if group.isStarted { try await startBesideTheOld(new) } else { try await startInsteadOfTheOld(new) }
            watcher.took()
            changeDelay.forget()
        } catch {
            guard life.isRunning else { return }
            restoreTokens()
            let refusal = Self.refusal(error)
            if refusal.mayPass {
                tryAgain(version, components, refusal.reason)
            } else {
                changeDelay.forget()
                watcher.refused(version, inForce: group.version)
                log.error(.configurationRefused, [.error: .string(refusal.reason)])
            }
        }
    }

    /// The change stays the next one, unless there is a newer.
    private func tryAgain(_ version: ConfigurationVersion, _ components: WorkerComponents, _ reason: String) {
        if changeDelay.lasts(loop.now.monotonic) != nil {
            watcher.delayed()
            log.warning(.configurationDelayed, [.error: .string(reason)])
        }
        guard nextChange == nil else { return }
        nextChange = (version, components)
        retry = loop.schedule(after: .seconds(Self.retrySeconds)) { [self] in
            retry = nil
            takeNextChange()
        }
    }

    /// Not before it is to start: a key that takes the place of one of the same name has a new token signed.
    private func signTokens(for new: LaneGroup) throws(CryptoError) {
        try tokens.replace(keysInUse + new.components.keys, loop.now, random: loop.nextRandom)
    }

    /// Those of lanes that leave go on, too; where two have the same ID, that which is to be in force comes last.
    private var keysInUse: [ProviderKey] { groups.flatMap(\.components.keys) }

    private func restoreTokens() {
        // They could sign before.
        try? tokens.replace(keysInUse, loop.now, random: loop.nextRandom)
        for (name, news) in tokens.newest { handOut(news, of: name) }
    }

    private static func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: refusal
        case let error as CryptoError: Refusal(reason: error.message)
        // The system gives no more threads or descriptors.
        case let error as TransportError: Refusal(reason: error.message, mayPass: true)
        default: Refusal(reason: "\(error)")
        }
    }

    /// Nothing was taken yet.
    private func startInsteadOfTheOld(_ new: LaneGroup) async throws {
        try signTokens(for: new)
        let wait = topologyWait
        group = new
        sayInForce()
        // Nothing is signed for the keys of the one before, which never started.
        restoreTokens()
        Task(executorPreference: loop) { await self.begin() }
        await wait?.close()
    }

    private func startBesideTheOld(_ new: LaneGroup) async throws {
        try await checkTopology(of: new.components)
        // It may have been told to stop meanwhile.
        guard life.isRunning else { return }
        try signTokens(for: new)
        do throws(TransportError) {
            try start(new)
        } catch {
            leave(new)
            throw error
        }
        coming = new
        let deadline = loop.now.monotonic + .seconds(Self.readySecondsMax)
        // Where the old ones stand still there is nothing to be lost.
        while life.isRunning, !new.readiness.isReady, group.readiness.isReady, loop.now.monotonic < deadline {
            await loop.sleep(for: .milliseconds(Self.lookMilliseconds))
        }
        guard life.isRunning else { return }
        coming = nil
        guard new.readiness.isReady || !group.readiness.isReady else {
            leave(new)
            let reasons = new.readiness.reasons.joined(separator: "; ")
            throw Refusal(reason: "the new lanes are not ready: \(reasons)", mayPass: true)
        }
        let old = group
        group = new
        sayInForce(new, after: old)
        leave(old)
        await queueDepths?.close()
        Task(executorPreference: loop) { await self.watchQueues() }
    }

    private func checkTopology(of components: WorkerComponents) async throws {
        let admin = components.brokerAccess.admin(
            named: "martlet worker change", on: loop, deadlineSeconds: Self.brokerSecondsMax)
        admin.start()
        var refusal: Refusal?
        do throws(AMQPError) {
            try await admin.waitUntilReady(deadlineSeconds: Self.brokerSecondsMax)
            let missing = try await TopologyCheck(components.topology).missing(at: admin)
            if !missing.isEmpty { refusal = Refusal(reason: TopologyWait.sentence(missing, commands)) }
        } catch {
            refusal = Refusal(
                reason: "the broker at \(components.brokerAccess.place) cannot be reached: \(error)", mayPass: true)
        }
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        if let refusal { throw refusal }
    }

    /// Not while the lanes before may judge a message that comes by their own.
    private func sayInForce(_ new: LaneGroup, after old: LaneGroup) {
        let timer = loop.schedule(after: .seconds(Self.stoppedSecondsMax)) { old.stopWaiting() }
        old.whenTakesNoMore { [self] in
            loop.cancel(timer)
            if group === new, life.isRunning { sayInForce() }
        }
    }

    private func sayInForce() {
        let configuration = group.components.configuration
        log.info(
            .configurationTaken,
            [.lanes: .integer(group.lanes.count), .apps: .integer(configuration.apps.count)])
        certificateReport.write(to: log, unixSeconds: loop.now.unixSeconds)
        let unchangeable = startedWith.restartNeeded(for: configuration)
        if !unchangeable.isEmpty {
            log.warning(.restartNeeded, [.settings: .string(unchangeable.joined(separator: ", "))])
        }
    }

    private func leave(_ old: LaneGroup) {
        leaving.append(old)
        closeChannels(of: old, deadlineSeconds: Self.finishSecondsMax)
        for index in old.undrained {
            old.lanes[index].finish(
                deadlineSeconds: Self.finishSecondsMax,
                stopped: { [self] in loop.post { old.laneStopped(index) } },
                report: { [self] unfinished in
                    loop.post { self.laneDrained(index, of: old, unfinished: unfinished) }
                })
        }
        // None may have got a thread.
        partEnded(of: old)
    }

    /// All its lanes have ended.
    func left(_ group: LaneGroup) {
        leaving.removeAll { $0 === group }
        log.info(.lanesLeft, [.lanes: .integer(group.lanes.count)])
        restoreTokens()
        takeNextChange()
    }
}

extension Configuration {
    /// What differs and is read at the start alone.
    fileprivate func restartNeeded(for new: Configuration) -> [String] {
        [("admin", admin != new.admin), ("tracing", tracing != new.tracing), ("log.level", logLevel != new.logLevel)]
            .filter(\.1).map(\.0)
    }
}
