import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import HTTP2
import TestKit

@testable import Delivery

extension SimulatedWorld {
    private static let drainSecondsMax = 15
    private static let cutBytesMax = 3000

    func schedule(_ entry: DisturbanceScript.Entry) {
        guard entry.afterMilliseconds > 0 else { return disturb(entry.kind, milliseconds: entry.milliseconds) }
        disturbancesLeft += 1
        loop.schedule(after: .milliseconds(entry.afterMilliseconds)) { [unowned self] in
            disturbancesLeft -= 1
            disturb(entry.kind, milliseconds: entry.milliseconds)
        }
    }

    /// Begins a disturbance and schedules its end. Does not kill or drain a worker that is already dead or draining.
    ///
    /// - Parameter worker: The affected worker; nil for a random worker.
    func disturb(_ kind: Disturbance.Kind, milliseconds: Int, worker: SimulatedWorker? = nil) {
        let worker = worker ?? workers[random.below(workers.count)]
        if kind == .workerKilled || kind == .workerDrained, worker.isDead || worker.isDraining { return }
        let number = report.disturbances.count
        let now = loop.now.monotonic
        report.disturbances.append(
            Disturbance(kind: kind, begins: now, ends: now + .milliseconds(milliseconds)))
        disturbancesLeft += 1
        if kind == .workerDrained { return drain(worker, number) }
        begin(kind, number, worker)
        loop.schedule(after: .milliseconds(milliseconds)) { [unowned self] in
            end(kind, number, worker)
            ended(number)
        }
    }

    private func ended(_ number: Int) {
        disturbancesLeft -= 1
        report.disturbances[number].ends = loop.now.monotonic
    }

    private func begin(_ kind: Disturbance.Kind, _ number: Int, _ worker: SimulatedWorker) {
        switch kind {
        case .connectionCut: cut()
        case .workerKilled: kill(worker)
        case .workerDrained: break
        case .brokerClosesConnections: broker.closeConnections()
        case .brokerClosesChannels: broker.closeChannels(541, "INTERNAL_ERROR")
        case .brokerRestarts: broker.crash()
        case .brokerFrozen: broker.setSilent(true)
        case .brokerAlarm: broker.raiseAlarm("low on memory")
        case .brokerFull: broker.behavior.nackPercent = 100
        case .exchangesMissing(let names): for name in names { broker.deleteExchange(name) }
        case .resultQueuesMissing:
            broker.deleteQueue(topology.names.resultsQueue)
            broker.deleteQueue(topology.names.unroutedQueue)
        case .endpointLost(let environment, let state):
            network.set(state, to: environment)
            for (connection, _) in apnsConnections where connection.isOpen && connection.leads(to: environment) {
                connection.cut()
            }
        case .endpointFails(let environment):
            put(number, environment, .answer(Answer(status: 500, body: .reason(.internalServerError))))
        case .endpointIsProxy(let environment):
            let page = Answer.Body.raw(contentType: "text/html", Array("<h1>no</h1>".utf8))
            put(number, environment, .answer(Answer(status: 403, body: page)))
        case .endpointSilent(let environment): put(number, environment, .silence)
        case .goAway: _ = try? apns.perform(.goAway(FaultGoAway()))
        case .streamsRefused: put(number, nil, .resetStream(.refusedStream), share: 0.7)
        case .keyRevoked(let key): apns.state.revokeKey(id: SimulatedApps.keyID(key))
        case .keyBound: isKeyBound = true
        case .appDisabled(let app): apns.state.removeApp(bundleID: SimulatedApps.bundleID(app))
        case .devicesThrottled:
            put(number, nil, .answer(.refused(.tooManyRequests)), devicePrefix: SimulatedMessage.throttledPrefix)
        case .clockWrong(let seconds): stepClock(seconds)
        case .suspended(let seconds):
            loop.now.sinceBoot = loop.now.sinceBoot + .seconds(seconds)
            loop.now.unixNanoseconds += Int64(seconds) * 1_000_000_000
        case .store(let fault): registrations?.begin(fault, number)
        case .workerKilledAfter(let step): registrations?.arm(step, number)
        }
    }

    private func end(_ kind: Disturbance.Kind, _ number: Int, _ worker: SimulatedWorker) {
        switch kind {
        case .connectionCut, .workerDrained, .brokerClosesConnections, .brokerClosesChannels, .goAway, .suspended:
            break
        case .workerKilled: replaceWorker(worker.place)
        case .brokerRestarts: try? broker.start()
        case .brokerFrozen: broker.setSilent(false)
        case .brokerAlarm: broker.clearAlarm()
        case .brokerFull: broker.behavior.nackPercent = settings.broker.nackPercent
        case .exchangesMissing, .resultQueuesMissing: topology.declare(at: broker)
        case .endpointLost(let environment, _): network.set(.open, to: environment)
        case .endpointFails, .endpointIsProxy, .endpointSilent, .streamsRefused, .devicesThrottled:
            apns.faults.remove(id: "\(number)")
        case .keyRevoked(let key): apns.state.add(.simulated(key, publicKey, isBound: isKeyBound))
        case .keyBound:
            isKeyBound = false
            apns.state.add(.simulated(SimulatedApps.boundKey, publicKey, isBound: false))
        case .appDisabled(let app): apns.state.enable(app)
        case .clockWrong(let seconds): stepClock(-seconds)
        case .store, .workerKilledAfter: registrations?.end(number)
        }
    }

    private func put(
        _ number: Int, _ environment: APNSEnvironment?, _ action: FaultAction, share: Double = 1,
        devicePrefix: String? = nil
    ) {
        try? apns.faults.put(
            Fault(
                id: "\(number)", match: FaultMatch(environment: environment, devicePrefix: devicePrefix),
                action: action, share: share))
    }

    /// Cuts a random open connection, if there is one, after a random number of further bytes in one direction.
    private func cut() {
        let open = loop.network.connections.filter(\.isOpen)
        guard !open.isEmpty else { return }
        let direction: VirtualConnection.Direction = random.chance(percent: 50) ? .toServer : .toClient
        open[random.below(open.count)].cut(after: random.below(Self.cutBytesMax), direction)
    }

    /// Changes the clock of the workers, not the clock of APNs.
    private func stepClock(_ seconds: Int) {
        loop.now.unixNanoseconds += Int64(seconds) * 1_000_000_000
        apns.clockOffset -= .seconds(seconds)
    }

    private func drain(_ worker: SimulatedWorker, _ number: Int) {
        drain(worker, deadlineSeconds: 1 + random.below(Self.drainSecondsMax)) { [unowned self] in
            replaceWorker(worker.place)
            ended(number)
        }
    }
}

extension VirtualConnection {
    fileprivate func leads(to environment: APNSEnvironment) -> Bool {
        endpoint.host.hasPrefix(environment.rawValue)
    }
}
