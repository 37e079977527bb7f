package import Crypto
import JSON

/// The identity of a record of pauses. It consists of the series and the number in the series.
///
/// A series is a random UUID, which `martlet topology apply` writes with revision 0 to an empty stream. Each later
/// record keeps the series and counts up. A record of the known series whose number is not higher is old. A record of
/// another series is new, whatever its number, because the stream was deleted and declared again. A stream contains one
/// series, because a series begins only in an empty stream. The rule compares no clocks.
package struct PauseRevision: Sendable, Hashable {
    package var series: UUIDValue
    package var number: Int

    package init(series: UUIDValue, number: Int) {
        self.series = series
        self.number = number
    }

    /// Returns whether a reader that knows the other revision must apply this revision.
    package func supersedes(_ known: PauseRevision) -> Bool { series != known.series || number > known.number }

    /// Returns whether a reader of this revision has also applied the other revision, or a later one that replaced it.
    package func includes(_ other: PauseRevision) -> Bool { series == other.series && number >= other.number }

    static let codec = ObjectCodec(
        "a revision", from: Self(series: UUIDValue(high: 0, low: 0), number: 0), ignoresUnknown: true,
        [
            .required("series", \.series, .uuid),
            .required("revision", \.number, .int(0...FleetLimits.numberMax)),
        ])
}
