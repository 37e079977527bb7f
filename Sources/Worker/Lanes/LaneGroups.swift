import APNS
import Configuration
import Crypto
import Delivery
import EventLoop
import RegistrationStores
import Registrations

/// The generations of lanes of a process, and their shared inputs: provider tokens, payload schemas and stores.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class LaneGroups: @unchecked Sendable {
    private let environment: LaneEnvironment
    private(set) var inForce: LaneGroup
    /// The generation whose start has begun and that may take over; otherwise nil.
    var coming: LaneGroup?
    /// Retired generations that settle their deliveries, oldest first.
    var retired: [LaneGroup] = []
    var tokens = ProviderTokens()
    /// The payload schemas, if they have changed since the newest version was read; otherwise nil. Lanes of that
    /// version may start later and need the change.
    private var newestPayloadSchemas: PayloadSchemaFiles?

    /// Creates the group of the first generation, without threads, and signs the first provider tokens.
    ///
    /// - Throws: if a key cannot sign.
    init(_ first: WorkerRollout.Generation, in environment: LaneEnvironment) throws(CryptoError) {
        self.environment = environment
        inForce = LaneGroup(first, log: environment.log)
        try tokens.replace(inForce.components.keys, loop.now, random: loop.nextRandom)
    }

    private var loop: EventLoop { environment.loop }

    /// All groups. Of two keys with the same ID, the key of the later group is in use.
    private var all: [LaneGroup] { retired + [inForce] + (coming.map { [$0] } ?? []) }

    /// The number of lanes that may have unacknowledged deliveries.
    var undrainedCount: Int { all.reduce(0) { $0 + $1.undrained.count } }

    /// Starts the lanes of a generation. A generation that is not in force becomes the coming generation. Returns
    /// `started` or `startFailed`.
    func start(
        _ generation: WorkerRollout.Generation, pauses: [Pause], handler: RolloutHandler
    ) -> WorkerRollout.Event {
        let isFirst = generation.number == inForce.number
        let group = isFirst ? inForce : LaneGroup(generation, log: environment.log)
        if !isFirst { coming = group }
        do {
            // Replace the keys only after the topology check. If a key replaces another key with the same ID, the lanes
            // in force also get tokens of the new key.
            try tokens.replace(keys, loop.now, random: loop.nextRandom)
            renewTokens()
            if let newestPayloadSchemas { group.replace(newestPayloadSchemas) }
            try group.start(
                tokens: tokenSupplies, pauses: pauses, store: try store(of: group), in: environment, handler: handler)
            return .started(generation.number)
        } catch let error as CryptoError {
            return .startFailed(generation.number, .permanent(error.message))
        } catch let error as TransportError {
            return .startFailed(generation.number, .temporary(error.message))
        } catch let fault as StoreFault {
            return .startFailed(generation.number, .permanent(fault.sentence))
        } catch {
            return .startFailed(generation.number, .permanent("\(error)"))
        }
    }

    /// Returns the store of a group, which the group shares with earlier groups that have the same settings; nil if the
    /// configuration has none.
    private func store(of group: LaneGroup) throws(StoreFault) -> RegistrationStore? {
        guard let settings = group.configuration.registrations else { return nil }
        for other in all where other.configuration.registrations?.hasSameStore(as: settings) ?? false {
            if let store = other.store { return store }
        }
        return try RegistrationStore(settings)
    }

    /// Puts the coming generation in force and retires the previous generation. If no generation has started, replaces
    /// the planned lanes by the lanes of this generation.
    func putInForce(_ generation: WorkerRollout.Generation) {
        if let next = coming, next.number == generation.number {
            retired.append(inForce)
            (inForce, coming) = (next, nil)
        } else {
            inForce = LaneGroup(generation, log: environment.log)
            restoreTokens()
        }
    }

    /// Finishes the generation with this number. Retires the generation first if it is the coming generation. Returns
    /// the events that follow immediately.
    func finish(_ number: Int, handler: RolloutHandler) -> [WorkerRollout.Event] {
        if let group = coming, group.number == number {
            retired.append(group)
            coming = nil
            restoreTokens()
        }
        return retired.first { $0.number == number }?
            .finish(deadlineSeconds: RolloutLimits.finishSecondsMax, handler: handler, on: loop) ?? []
    }

    /// Removes a retired group, and restores the tokens of the remaining groups. Returns the group, or nil if the
    /// number is unknown.
    func remove(_ number: Int) -> LaneGroup? {
        guard let index = retired.firstIndex(where: { $0.number == number }) else { return nil }
        defer { restoreTokens() }
        return retired.remove(at: index)
    }

    func drain(deadlineSeconds: Int, handler: RolloutHandler) {
        for group in all { group.drain(deadlineSeconds: deadlineSeconds, handler: handler, on: loop) }
    }

    func checkProgress() {
        for group in all { group.checkProgress(now: loop.now.monotonic) }
    }

    func text(of obstacle: Obstacle) -> String {
        switch obstacle {
        case .temporary(let reason), .permanent(let reason): reason
        case .notReady(let number):
            "the new lanes are not ready: "
                + (all.first { $0.number == number }?.readiness.reasons ?? []).joined(separator: "; ")
        }
    }
}

extension LaneGroups {
    /// Discards earlier schema changes, because a new version was read together with its payload schemas.
    func versionRead() { newestPayloadSchemas = nil }

    func replace(_ files: PayloadSchemaFiles) {
        newestPayloadSchemas = files
        inForce.replace(files)
        coming?.replace(files)
    }
}

/// Provider tokens.
extension LaneGroups {
    /// The keys of all groups, because retired lanes also push.
    private var keys: [ProviderKey] { all.flatMap(\.components.keys) }

    private var tokenSupplies: [Credential.Name: TokenSupply] {
        tokens.supplies { [self] name, refusal in
            loop.post {
                let update = self.tokens.refused(refusal, of: name, self.loop.now, random: self.loop.nextRandom)
                self.send(update, of: name)
            }
        }
    }

    func renewTokens() {
        for (name, update) in tokens.renew(loop.now, random: loop.nextRandom) { send(update, of: name) }
    }

    /// Puts the keys of all groups in use, and sends their newest tokens to all lanes.
    private func restoreTokens() {
        // Only a key that has not signed before can fail. The start of the key's generation then reports the error.
        try? tokens.replace(keys, loop.now, random: loop.nextRandom)
        for (name, update) in tokens.newest { send(update, of: name) }
    }

    private func send(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        for group in all { group.apply(update, of: credential) }
    }
}
