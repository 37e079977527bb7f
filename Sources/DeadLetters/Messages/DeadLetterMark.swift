import AMQP
import Crypto
import Delivery

/// The identity of a dead letter: its id and the time of its failure. The mark is the same after every move and
/// export (decision 14).
package struct DeadLetterMark: Equatable, Sendable {
    /// Namespace of the UUIDs; a random constant of this project.
    private static let namespace = UUIDValue(high: 0x5f0c_92d7_1b6e_4a83, low: 0xa4d1_77c2_3e90_5b16)

    let uuid: UUIDValue

    package init(id: String, failedAtMilliseconds: Int64?) {
        uuid = UUIDValue(name: "\(id) \(failedAtMilliseconds.map { "\($0)" } ?? "-")", namespace: Self.namespace)
    }

    package init(_ letter: DeadLetter) { self.init(id: letter.id, failedAtMilliseconds: letter.failedAt) }

    /// The wait ID with which a worker recognizes the duplicate of a dead letter that was redriven twice.
    var waitID: UInt32 { max(1, UInt32(truncatingIfNeeded: uuid.low)) }
}
