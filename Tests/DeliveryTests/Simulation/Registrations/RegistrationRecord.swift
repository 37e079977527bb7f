import Crypto
import EventLoop
import Registrations
import TestKit

/// The record of the registrations and the requests to users in a run.
struct RegistrationRecord {
    /// A device token of a user, in one row of the store.
    struct Ownership: Hashable {
        let app: String
        let user: String
        let token: String
        let slot: UUIDValue
    }

    struct Push {
        let request: Int
        let token: String
        let status: Int
        let at: MonotonicTime
        let worker: Int
        /// Whether a living worker received the answer; false for a refused push.
        var wasAnswered = false
        /// Whether the same worker already had the answer that APNs accepted an identical push.
        var wasNeedless = false
    }

    /// A message that a worker published for a request to users or for one of its children.
    struct Message {
        let at: MonotonicTime
        let body: [UInt8]
        let routingKey: String
    }

    struct Outcome {
        var publishedAt: [MonotonicTime] = []
        var results: [Message] = []
        var reports: [Message] = []
        var deadLetters: [Message] = []
    }

    var requests: [UserRequest] = []
    /// The outcomes, by request index.
    var outcomes: [Outcome] = []
    var pushes: [Push] = []
    /// The times at which the store began and ended an ownership, alternately. The first time is a beginning.
    var changes: [Ownership: [MonotonicTime]] = [:]
    /// The ownerships that lookups ignore some time before the store ends them.
    var expiring: Set<Ownership> = []
    /// The tokens that APNs ends during the run.
    var endingTokens: Set<String> = []
    /// The distinct commands that reached their queue.
    var commands: [RegistrationCommand] = []
    /// The number of messages in the queue of commands that are not valid commands.
    var unreadableCommands = 0
    /// For each publish of an event, whether the message is marked as a possible duplicate; by event ID.
    var events: [UUIDValue: [Bool]] = [:]
    /// The number of publishes of events that the store never contained.
    var foreignEvents = 0
    /// The number of pushes of requests to users that have no device token.
    var foreignPushes = 0
    /// The number of events that remain in the store.
    var eventsLeft = 0
    /// The rows and marks of the store, and those of a store that received all commands in the order of their times.
    var rows: [Registration.Key: Registration] = [:]
    var expectedRows: [Registration.Key: Registration] = [:]
    var marks: [UUIDValue: EndMark] = [:]
    var expectedMarks: [UUIDValue: EndMark] = [:]

    /// Returns whether the user owned the token at a time between two times.
    func isOwned(_ ownership: Ownership, from first: MonotonicTime, to last: MonotonicTime) -> Bool {
        let times = changes[ownership] ?? []
        return times.indices.contains { index in
            index.isMultiple(of: 2) && times[index] <= last
                && (index + 1 == times.count || times[index + 1] >= first)
        }
    }

    /// Returns whether the user owned the token all the time between two times.
    func isAlwaysOwned(_ ownership: Ownership, from first: MonotonicTime, to last: MonotonicTime) -> Bool {
        let times = changes[ownership] ?? []
        return times.indices.contains { index in
            index.isMultiple(of: 2) && times[index] < first
                && (index + 1 == times.count || times[index + 1] > last)
        }
    }
}
