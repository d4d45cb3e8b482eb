// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pinocchio's C++ functions, including some that its Python module lacks, timed inside C++. The
// model is built from numbers, so that only headers are needed and everything is compiled for this
// processor; linking the wheel's libraries would restrict it to their instruction set.
//
// Usage: pinocchio_functions MODEL. The file holds gravity, the number of joints and for each joint
// its parent, kind, axis, placement (translation, rotation by rows), mass, lever and inertia
// (ixx ixy iyy ixz iyz izz); then one state: q, v and a; then joint and placement of a frame.
// Commands are lines on stdin: "NAME COUNT" calls a function COUNT times and prints seconds per
// call; "values NAME" prints the results.

// Pinocchio queries every collection of joints for mimic joints; ours declares that it has none.
#define BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT

#include <fstream>
#include <iostream>
#include <string>
#include <time.h>
#include <unsupported/Eigen/CXX11/Tensor>

#include "pinocchio/algorithm/compute-all-terms.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/frames.hpp"
#include "pinocchio/algorithm/kinematics.hpp"
#include "pinocchio/algorithm/rnea-second-order-derivatives.hpp"
#include "pinocchio/algorithm/rnea.hpp"

namespace pin = pinocchio;
using Eigen::VectorXd;

// Only the joint types that occur. The whole collection takes minutes to compile and runs no
// faster.
template<typename Scalar_, int Options_>
struct Joints
{
  using Scalar = Scalar_;
  static constexpr int Options = Options_;
  template<int axis>
  using Revolute = pin::JointModelRevoluteTpl<Scalar, Options, axis>;
  template<int axis>
  using Prismatic = pin::JointModelPrismaticTpl<Scalar, Options, axis>;
  using RevoluteUnaligned = pin::JointModelRevoluteUnalignedTpl<Scalar, Options>;
  using PrismaticUnaligned = pin::JointModelPrismaticUnalignedTpl<Scalar, Options>;

  using JointModelVariant = boost::variant<
    Revolute<0>, Revolute<1>, Revolute<2>, RevoluteUnaligned,
    Prismatic<0>, Prismatic<1>, Prismatic<2>, PrismaticUnaligned>;
  using JointDataVariant = boost::variant<
    typename Revolute<0>::JointDataDerived, typename Revolute<1>::JointDataDerived,
    typename Revolute<2>::JointDataDerived, typename RevoluteUnaligned::JointDataDerived,
    typename Prismatic<0>::JointDataDerived, typename Prismatic<1>::JointDataDerived,
    typename Prismatic<2>::JointDataDerived, typename PrismaticUnaligned::JointDataDerived>;
};

using Model = pin::ModelTpl<double, 0, Joints>;
using Data = pin::DataTpl<double, 0, Joints>;
using JointModel = pin::JointModelTpl<double, 0, Joints>;
using AllJoints = Joints<double, 0>;

// Processor time of this thread, as the Python side measures its own.
static double seconds()
{
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static VectorXd numbers(std::istream & in, int count)
{
  VectorXd values(count);
  for (int i = 0; i < count; ++i)
    in >> values[i];
  return values;
}

// Make a joint of the type that Pinocchio's own URDF reader would choose.
static JointModel joint_model(char kind, const Eigen::Vector3d & axis)
{
  const bool turns = kind == 'R';
  if (axis == Eigen::Vector3d::UnitX())
    return turns ? JointModel(AllJoints::Revolute<0>()) : JointModel(AllJoints::Prismatic<0>());
  if (axis == Eigen::Vector3d::UnitY())
    return turns ? JointModel(AllJoints::Revolute<1>()) : JointModel(AllJoints::Prismatic<1>());
  if (axis == Eigen::Vector3d::UnitZ())
    return turns ? JointModel(AllJoints::Revolute<2>()) : JointModel(AllJoints::Prismatic<2>());
  return turns ? JointModel(AllJoints::RevoluteUnaligned(axis))
               : JointModel(AllJoints::PrismaticUnaligned(axis));
}

static pin::SE3 placement(std::istream & in)
{
  const Eigen::Vector3d translation = numbers(in, 3);
  const VectorXd rows = numbers(in, 9);
  const Eigen::Matrix3d rotation =
    Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(rows.data());
  return pin::SE3(rotation, translation);
}

static Model read_model(std::istream & in)
{
  Model model;
  model.gravity.linear() = numbers(in, 3);
  int joints;
  in >> joints;
  for (int i = 0; i < joints; ++i)
  {
    pin::JointIndex parent;
    char kind;
    in >> parent >> kind;
    const Eigen::Vector3d axis = numbers(in, 3);
    const pin::SE3 place = placement(in);
    double mass;
    in >> mass;
    const Eigen::Vector3d lever = numbers(in, 3);
    const pin::Symmetric3 inertia(Eigen::Matrix<double, 6, 1>(numbers(in, 6)));
    const auto index = model.addJoint(
      parent, joint_model(kind, axis), place, std::to_string(i));
    model.appendBodyToJoint(index, pin::Inertia(mass, lever, inertia));
  }
  return model;
}

int main(int, char ** arguments)
{
  std::ifstream file(arguments[1]);
  Model model = read_model(file);
  const int n = model.nv;
  const VectorXd q = numbers(file, n), v = numbers(file, n), a = numbers(file, n);
  pin::JointIndex joint;
  file >> joint;
  const pin::FrameIndex frame =
    model.addFrame(pin::Frame("tip", joint, 0, placement(file), pin::OP_FRAME));
  Model weightless(model);
  weightless.gravity.setZero();
  Data data(model);
  const VectorXd still = VectorXd::Zero(n);
  VectorXd c(n), g(n);
  Data::Matrix6x J(6, n);
  pin::Motion drift;
  Data::Tensor3x dqdq(n, n, n), dvdv(n, n, n), dqdv(n, n, n), dadq(n, n, n);
  for (auto * tensor : {&dqdq, &dvdv, &dqdv, &dadq})
    tensor->setZero();

  const auto mass = [&](pin::Convention convention) {
    pin::crba(model, data, q, convention);
    data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
  };
  // As in the fastest sequences from Python: c from a model without gravity, or by subtraction.
  const auto step = [&](const std::string & name) {
    if (name == "step_all")
    {
      pin::computeAllTerms(model, data, q, v);
      data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
      g = data.g;
      c = data.nle - g;
    }
    else
    {
      mass(pin::Convention::WORLD);
      if (name == "step_nle")
        c = pin::nonLinearEffects(weightless, data, q, v);
      else if (name == "step_rnea")
        c = pin::rnea(weightless, data, q, v, still);
      g = pin::computeGeneralizedGravity(model, data, q);
      if (name == "step_difference")
        c = pin::nonLinearEffects(model, data, q, v) - g;
    }
    J.setZero();
    pin::getFrameJacobian(model, data, frame, pin::LOCAL_WORLD_ALIGNED, J);
    pin::forwardKinematics(model, data, q, v, still);
    drift = pin::getFrameClassicalAcceleration(model, data, frame, pin::LOCAL_WORLD_ALIGNED);
  };
  const auto call = [&](const std::string & name) {
    if (name == "mass_local" || name == "mass_world")
      mass(name == "mass_local" ? pin::Convention::LOCAL : pin::Convention::WORLD);
    else if (name.rfind("step", 0) == 0)
      step(name);
    else if (name == "tensors")
      pin::ComputeRNEASecondOrderDerivatives(model, data, q, v, a, dqdq, dvdv, dqdv, dadq);
    else
      pin::rnea(model, data, q, v, a);
  };

  std::cout.precision(17);
  std::string name;
  while (std::cin >> name)
  {
    if (name == "values")
    {
      std::cin >> name;
      call(name);
      const auto write = [](const double * values, int size) {
        for (int i = 0; i < size; ++i)
          std::cout << values[i] << ' ';
      };
      if (name == "tensors")
        write(dvdv.data(), n * n * n);
      else if (name == "rnea")
        write(data.tau.data(), n);
      else
        write(data.M.data(), n * n);
      if (name.rfind("step", 0) == 0)
      {
        const Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> rows = J;
        write(c.data(), n);
        write(g.data(), n);
        write(rows.data(), 6 * n);
        write(drift.toVector().data(), 6);
      }
      std::cout << '\n';
    }
    else
    {
      long count;
      std::cin >> count;
      const double started = seconds();
      for (long i = 0; i < count; ++i)
        call(name);
      std::cout << (seconds() - started) / count << '\n';
    }
    std::cout.flush();
  }
}
