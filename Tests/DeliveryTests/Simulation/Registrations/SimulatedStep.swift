import TestKit

/// A step of a worker after which the worker may die.
enum SimulatedStep: Hashable, CaseIterable {
    case lookedUp
    case committed
    case eventsDeleted
    case publishedChild
    /// The return of a request to its queue after a part of its children.
    case publishedCursor
    case publishedReport
    case publishedEvent
    /// The command after a refusal of APNs.
    case publishedRefusal

    /// Creates the step of this work; nil for work that is no step.
    init?(_ work: SimulatedStore.Work) {
        switch work {
        case .lookup: self = .lookedUp
        case .commit: self = .committed
        case .deletion: self = .eventsDeleted
        case .maintenance, .page: return nil
        }
    }
}
