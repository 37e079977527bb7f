import EventLoop
import JSON
import Registrations
import TestKit

/// A check of the registrations and the requests to users of a run.
struct RegistrationOracle {
    /// The time after which a device that has ended may no longer receive a push. A child that is delivered in time may
    /// then wait for a connection, its permit or the store's answer.
    private static let endedMax = Duration.seconds(60 + 70)
    /// The time after the last disturbance or publish of a request within which the request has all of its results.
    private static let completionMax = Duration.seconds(1560)

    let record: RegistrationRecord
    /// The end of the last disturbance.
    let disturbedUntil: MonotonicTime
    /// Whether a message had at least three failed deliveries. A request may then enter the quarantine, and may later
    /// become a dead letter.
    let mayQuarantine: Bool

    /// Returns one description for each violation of the guarantees.
    func violations() -> [String] {
        violationsOfStore()
            + record.requests.indices.flatMap { number in
                let read = RequestOutcome(record.outcomes[number])
                let violations =
                    completion(number, read) + adding(number, read) + reached(number, read) + pushes(number, read)
                    + deadLetters(number, read)
                return violations.map { "request \(number) to users: \($0)" }
            }
    }

    private func violationsOfStore() -> [String] {
        var violations: [String] = []
        if record.unreadableCommands > 0 { violations.append("\(record.unreadableCommands) commands are invalid") }
        if record.foreignEvents > 0 { violations.append("\(record.foreignEvents) events were never stored") }
        if record.foreignPushes > 0 { violations.append("\(record.foreignPushes) pushes have no token") }
        if record.eventsLeft > 0 { violations.append("\(record.eventsLeft) events remain in the store") }
        let unpublished = record.events.values.count(where: \.isEmpty)
        if unpublished > 0 { violations.append("\(unpublished) events were not published") }
        let unmarked = record.events.values.count { $0.count { !$0 } > 1 }
        if unmarked > 0 { violations.append("\(unmarked) events were published twice without a mark") }
        let different = Set(record.rows.keys).union(record.expectedRows.keys).count {
            record.rows[$0]?.withoutSuspicion != record.expectedRows[$0]?.withoutSuspicion
        }
        if different > 0 { violations.append("\(different) rows differ from the rows of all commands in order") }
        if record.marks != record.expectedMarks { violations.append("marks differ from the marks of all commands") }
        return violations
    }

    /// Checks that each publish led to a completion in time, with an outcome that the users' devices permit.
    private func completion(_ number: Int, _ read: RequestOutcome) -> [String] {
        let (request, outcome) = (record.requests[number], record.outcomes[number])
        var violations = read.unreadable > 0 ? ["\(read.unreadable) messages cannot be read"] : []
        if read.completionCount < outcome.publishedAt.count {
            violations.append("published \(outcome.publishedAt.count) times and ended \(read.completionCount) times")
        }
        for result in read.ownResults {
            if result.errorClass == "quarantine", mayQuarantine { continue }
            guard result.errorCode == "no_device", !request.isList else {
                violations.append("ended as \(result.outcome) \(result.errorClass ?? "") \(result.errorCode ?? "")")
                continue
            }
            let first = outcome.publishedAt[0]
            if !owned(by: request, from: first, to: result.at).isEmpty { violations.append("found no device") }
        }
        let last = (outcome.results + outcome.reports).map(\.at).max() ?? .init(nanoseconds: 0)
        let limit = max(disturbedUntil, outcome.publishedAt.max() ?? disturbedUntil) + Self.completionMax
        if last > limit { violations.append("ended at \(last) instead of \(limit)") }
        return violations
    }

    /// Checks that each report counts the results, unless the request or its results may be duplicates. Also checks the
    /// number of users without a device.
    private func adding(_ number: Int, _ read: RequestOutcome) -> [String] {
        let request = record.requests[number]
        let count = read.children.count
        let isMarked =
            record.outcomes[number].publishedAt.count > 1 || read.completedAt.count > 1
            || read.reports.contains(where: \.possibleDuplicate)
            || read.children.contains { $0.possibleDuplicate || $0.isDuplicate }
        var violations: [String] = []
        for report in read.reports {
            if count < report.devices || count != report.devices && !isMarked {
                violations.append("reported \(report.devices) devices and has \(count) results")
            }
            if report.usersWithoutDevice > request.users.count
                || report.devices == 0 && report.usersWithoutDevice != request.users.count
            {
                violations.append(
                    "reported \(report.usersWithoutDevice) of \(request.users.count) users without a device")
            }
        }
        return violations
    }

    /// Checks that each device that was live during the expansion has a result, and was pushed to if it remained live.
    /// Also checks that APNs accepted the push of each result `accepted`.
    private func reached(_ number: Int, _ read: RequestOutcome) -> [String] {
        let (request, outcome) = (record.requests[number], record.outcomes[number])
        guard let end = read.completedAt.min(), let first = outcome.publishedAt.first, !isGivenUp(read) else {
            return []
        }
        var violations: [String] = []
        for ownership in owned(by: request, from: first, to: end) {
            let results = read.children.filter { $0.token == ownership.token }
            guard let result = results.first else {
                violations.append("missed the live device \(ownership.token) between \(first) and \(end)")
                continue
            }
            let isHealthy =
                ownership.token.hasPrefix(SimulatedToken.active) && !record.endingTokens.contains(ownership.token)
                && record.isAlwaysOwned(ownership, from: first, to: result.at)
            // Users who share a token have one child, which belongs to one of them.
            let isOfUser = results.allSatisfy { $0.user == ownership.user }
            if isHealthy, isOfUser, !results.contains(where: { $0.outcome == "accepted" }) {
                violations.append(
                    "ended as \(result.outcome) \(result.errorCode ?? "") for the live device \(ownership.token)")
            }
        }
        for result in read.children where result.outcome == "accepted" {
            if !record.pushes.contains(where: {
                $0.request == number && $0.token == result.token && $0.status == 200
            }) {
                violations.append("has the result accepted although APNs did not accept it")
            }
        }
        return violations
    }

    /// Returns whether the workers gave up the request or one of its children after too many deliveries.
    private func isGivenUp(_ read: RequestOutcome) -> Bool {
        mayQuarantine && (read.ownResults + read.children).contains { $0.errorClass == "quarantine" }
    }

    /// Returns the ownerships of the users that each lookup between two times finds.
    private func owned(
        by request: UserRequest, from first: MonotonicTime, to last: MonotonicTime
    ) -> [RegistrationRecord.Ownership] {
        record.changes.keys.filter { ownership in
            !record.expiring.contains(ownership) && request.users.contains { $0.owns(ownership) }
                && record.isAlwaysOwned(ownership, from: first, to: last)
        }
    }

    /// Checks that no device received a push after its end, or twice without a mark. Checks that no worker repeated a
    /// push whose answer it had.
    private func pushes(_ number: Int, _ read: RequestOutcome) -> [String] {
        let request = record.requests[number]
        var violations: [String] = []
        var accepted: [String: Int] = [:]
        for push in record.pushes where push.request == number {
            if push.status == 200 { accepted[push.token, default: 0] += 1 }
            if push.wasNeedless { violations.append("was pushed again although the worker had the answer") }
            let from = push.at - Self.endedMax
            let isOwned = record.changes.keys.contains { ownership in
                ownership.token == push.token && request.users.contains { $0.owns(ownership) }
                    && record.isOwned(ownership, from: from, to: push.at)
            }
            if !isOwned { violations.append("was pushed at \(push.at) to a device that had ended") }
        }
        let isMarked =
            read.reports.contains(where: \.possibleDuplicate) || read.ownResults.contains(where: \.possibleDuplicate)
            || isGivenUp(read)
        for (token, count) in accepted where count > 1 && record.outcomes[number].publishedAt.count == 1 {
            let results = read.children.filter { $0.token == token }
            if isMarked || movedBetween(results, token) || results.contains(where: \.possibleDuplicate) { continue }
            violations.append("was accepted \(count) times for the device \(token) without a possible duplicate")
        }
        return violations
    }

    /// Returns whether a token moved from one user of a request to another. The two users may then have children in
    /// different chunks.
    private func movedBetween(_ results: [RequestOutcome.Result], _ token: String) -> Bool {
        let users = Set(results.map(\.user))
        return record.changes.keys.count {
            $0.token == token && $0.slot == Registration.Key.unshared && users.contains($0.user)
        } > 1
    }

    private func deadLetters(_ number: Int, _ read: RequestOutcome) -> [String] {
        let letters = record.outcomes[number].deadLetters
        var violations: [String] = []
        for letter in letters {
            // Bad tokens, and tokens that APNs ended before their registration, lead to dead letters.
            if ["BadDeviceToken", "Unregistered"].contains(where: { letter.routingKey.hasPrefix("dead.apns.\($0).") }) {
                continue
            }
            if letter.routingKey.hasPrefix("dead.quarantine."), mayQuarantine { continue }
            violations.append("has an unexpected dead letter \(letter.routingKey)")
        }
        let isDue = read.children.contains { $0.errorClass == "apns" && !$0.isDuplicate }
        return isDue && letters.isEmpty ? violations + ["has no dead letter"] : violations
    }
}

extension SimulatedUser {
    fileprivate func owns(_ ownership: RegistrationRecord.Ownership) -> Bool {
        ownership.app == bundleID && ownership.user == name
    }
}

extension SimulationOracle {
    /// Returns one description for each violation of the guarantees about registrations.
    func violationsOfRegistrations() -> [String] {
        guard let record = report.registrations else { return [] }
        return RegistrationOracle(
            record: record,
            disturbedUntil: report.disturbances.map(\.ends).max() ?? MonotonicTime(nanoseconds: 0),
            mayQuarantine: report.deliveryCountMax >= 3
        ).violations()
    }
}
