import APNSProtocol
import APNSSimulator
import EventLoop
import TestKit

/// The observation of a run, recorded in its report.
extension SimulatedWorld {
    /// The time, in addition to `answerDelay`, after which an answer has arrived.
    private static let answerLatency = Duration.milliseconds(100)
    private static let deathSecondsMax = 3

    func observe() {
        loop.network.onConnect = { [unowned self] connection in
            guard let worker = workers.first(where: { $0.reaches(connection.endpoint) }) else { return }
            apnsConnections.append((connection, worker.number))
        }
        apns.memory.onRequest = { [unowned self] request, payload in requested(request, payload) }
        broker.onAppend = { [unowned self] queue, message in
            if registrations?.arrived(message, in: queue) == true { return }
            if isForResults(queue) { return published(message) }
            guard isConsumed(queue), let number = publish(of: message) else { return }
            report.publishes[number].arrivals += 1
        }
        broker.onRequeue = { [unowned self] _, message in
            report.deliveryCountMax = max(report.deliveryCountMax, message.deliveryCount)
            if let number = publish(of: message) { report.publishes[number].requeues += 1 }
        }
    }

    private func published(_ message: ScriptedMessage) {
        guard let number = publish(of: message) else {
            report.foreignMessages += 1
            return
        }
        let index = report.publishes[number].message
        if message.routingKey.hasPrefix("result.") {
            report.publishes[number].results.append(
                SimulationReport.Result(at: loop.now.monotonic, body: message.body, routingKey: message.routingKey))
        } else {
            report.publishes[number].deadLetters.append(
                SimulationReport.DeadLetter(routingKey: message.routingKey, body: message.body))
            workThrough(message, of: index)
        }
    }

    private func requested(_ request: LoggedRequest, _ payload: UnsafeRawBufferPointer) {
        let (connection, worker) = apnsConnections[request.connection - 1]
        if registrations?.requested(request, payload, connection, worker: worker) == true { return }
        guard let id = request.apnsID,
            let index = messagesByID[id]?.first(where: { payload.elementsEqual(report.messages[$0].payload) })
        else {
            report.foreignPushes += 1
            return
        }
        var push = SimulationReport.Push(
            status: request.status ?? 0, at: loop.now.monotonic, unixSeconds: request.unixMilliseconds / 1000,
            worker: worker)
        push.wasNeedless = report.pushes[index].contains { $0.wasAnswered && $0.worker == worker }
        report.pushes[index].append(push)
        if report.messages[index].kind == .poison, let worker = workers.first(where: { $0.number == worker }) {
            die(worker)
        }
        guard push.status == 200 else { return }
        let place = report.pushes[index].count - 1
        afterAnswer { [unowned self] in
            if connection.isOpen { report.pushes[index][place].wasAnswered = true }
        }
    }

    /// Calls `body` after the time within which the answer to a push arrives.
    func afterAnswer(_ body: @escaping () -> Void) {
        loop.schedule(after: settings.answerDelay + Self.answerLatency, body)
    }

    /// Kills a worker because of its own work, such as a push of a poison request.
    func die(_ worker: SimulatedWorker) {
        guard !worker.isDead else { return }
        disturbancesLeft += 1
        loop.schedule(after: .zero) { [unowned self] in
            disturbancesLeft -= 1
            // A draining worker dies too. Its successor starts when the drain would have ended.
            if worker.isDraining { return kill(worker) }
            disturb(.workerKilled, milliseconds: random.below(Self.deathSecondsMax * 1000), worker: worker)
        }
    }
}
