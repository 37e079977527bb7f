import ControlProtocol

/// The steps of one request, from the lines of the journal about it. Console and command show the same steps.
package enum RequestSteps {
    /// Returns the steps in the order of time.
    ///
    /// - Parameter lines: lines with the same id, in any order.
    package static func steps(of lines: [RequestLine]) -> [RequestStep] {
        var steps: [RequestStep] = []
        for line in Set(lines) {
            switch line {
            case .wait(let wait, let worker): steps.append(step(of: wait, worker))
            case .result(let result): steps += self.steps(of: result)
            }
        }
        return merged(steps.sorted { ($0.at, order($0.event), $0.text) < ($1.at, order($1.event), $1.text) })
    }

    private static func order(_ event: RequestStep.Event) -> Int {
        RequestStep.Event.allCases.firstIndex(of: event) ?? 0
    }

    private static func step(of wait: JournalWait, _ worker: String) -> RequestStep {
        RequestStep(
            at: wait.at, event: .waits, code: wait.code, text: wait.sentence ?? wait.code, queue: wait.queue,
            worker: worker, until: wait.until)
    }

    private static func steps(of result: ResultRecord) -> [RequestStep] {
        var steps: [RequestStep] = []
        if let at = result.publishedAt {
            steps.append(
                RequestStep(at: at, event: .published, text: "published (producer's clock)", queue: result.queue))
        }
        for event in result.history { steps += self.steps(of: event) }
        if let at = result.receivedAt {
            steps.append(
                RequestStep(
                    at: at, event: .delivered, text: "delivered to a worker", queue: result.queue,
                    worker: result.worker))
        }
        if let at = result.sentAt { steps.append(attempt(of: result, at)) }
        let text = result.isDuplicate ? "duplicate of a request that was \(result.outcome)" : result.outcome
        steps.append(
            RequestStep(
                at: result.finishedAt, event: .result, code: result.code,
                text: result.failure?.message.map { "\(text): \($0)" } ?? text, worker: result.worker))
        return steps
    }

    private static func attempt(of result: ResultRecord, _ at: Int64) -> RequestStep {
        let answer = [result.status.map { "\($0)" }, result.reason].compactMap { $0 }.joined(separator: " ")
        let duration = result.finishedAt >= at ? ", \(result.finishedAt - at) ms" : ""
        return RequestStep(
            at: at, event: .attempt, code: result.reason,
            text: "attempt \(max(1, result.attempts)): \(answer.isEmpty ? "no answer" : answer)\(duration)",
            worker: result.worker)
    }

    /// Returns the attempt and the wait of an entry. A hold or a quarantine has no attempt. An attempt without `until`
    /// has no wait.
    private static func steps(of event: ResultEvent) -> [RequestStep] {
        let code = event.code ?? event.event
        let rounds = event.rounds.flatMap { $0 > 1 ? $0 : nil }
        var steps: [RequestStep] = []
        if event.event == "attempt" {
            steps.append(RequestStep(at: event.at, event: .attempt, code: event.code, text: code, rounds: rounds))
        }
        if event.event != "attempt" || event.until != nil {
            let text = event.event == "attempt" || event.event == "hold" ? code : "\(event.event): \(code)"
            steps.append(
                RequestStep(
                    at: event.at, event: .waits, code: event.code, text: text, until: event.until, rounds: rounds))
        }
        return steps
    }

    /// Joins steps that describe the same event: a `wait` line and the entry of the result's history, or the same
    /// publication in the results of several deliveries.
    private static func merged(_ steps: [RequestStep]) -> [RequestStep] {
        var merged: [RequestStep] = []
        for step in steps {
            if let same = merged.lastIndex(where: { isSame($0, step) }) {
                merged[same].join(step)
            } else {
                merged.append(step)
            }
        }
        return merged.sorted { ($0.at, order($0.event), $0.text) < ($1.at, order($1.event), $1.text) }
    }

    /// - Parameter later: a step that is not earlier than `step`.
    private static func isSame(_ step: RequestStep, _ later: RequestStep) -> Bool {
        guard step.event == later.event, step.code == later.code else { return false }
        switch step.event {
        case .published: return true
        // Only the line has a queue. The entry begins at or before its wait.
        case .waits: return (step.queue == nil) != (later.queue == nil) && later.at <= step.until ?? step.at
        case .delivered, .attempt, .result: return false
        }
    }
}

extension RequestStep {
    /// Adds the values of another description of the same step.
    fileprivate mutating func join(_ other: RequestStep) {
        // The line of a wait has the exact time, and may have a sentence.
        if event == .waits, other.queue != nil { (at, text) = (other.at, other.text) }
        queue = queue ?? other.queue
        worker = worker ?? other.worker
        rounds = rounds ?? other.rounds
        until = [until, other.until].compactMap { $0 }.max()
    }
}
